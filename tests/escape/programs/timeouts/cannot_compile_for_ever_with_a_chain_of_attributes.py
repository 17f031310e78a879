# claim: a completion cannot compile for ever with a chain of attributes
# profile: function
# win: host
# control_safe: true
# builds: source
# control: uncaught
# expect: failed,error,timeout,limit,invalid

def source():
    return "def solve(target):\n    return target" + ".a" * 100_000 + "\n"
