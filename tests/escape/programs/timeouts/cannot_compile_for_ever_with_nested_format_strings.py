# claim: a completion cannot compile for ever with nested format strings
# profile: function
# win: host
# control_safe: true
# builds: source
# control: uncaught
# expect: failed,error,timeout,limit,invalid

def source():
    text = "1"
    for depth in range(400):
        text = "f'''{" + text + "}'''" if depth % 2 else 'f"""{' + text + '}"""'
    return f"def solve(target):\n    return {text}\n"
