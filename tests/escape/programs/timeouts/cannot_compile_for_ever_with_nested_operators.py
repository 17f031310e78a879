# claim: a completion cannot compile for ever with nested operators
# profile: function
# win: host
# control_safe: true
# builds: source
# control: uncaught
# expect: failed,error,timeout,limit,invalid

def source():
    return "def solve(target):\n    return " + "-" * 200_000 + "1\n"
