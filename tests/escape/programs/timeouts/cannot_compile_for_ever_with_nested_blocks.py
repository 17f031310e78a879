# claim: a completion cannot compile for ever with nested blocks
# profile: function
# win: host
# control_safe: true
# builds: source
# control: uncaught
# expect: failed,error,timeout,limit,invalid

def source():
    lines = [" " * depth + "if target:" for depth in range(1, 2000)]
    return "def solve(target):\n" + "\n".join(lines) + "\n" + " " * 2000 + "return 1\n"
