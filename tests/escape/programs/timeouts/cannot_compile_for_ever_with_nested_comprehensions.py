# claim: a completion cannot compile for ever with nested comprehensions
# profile: function
# win: host
# control_safe: false
# builds: source
# expect: failed,error,timeout,limit,invalid

def source():
    return "def solve(target):\n    return " + "[" * 190 + "1" + " for a in b]" * 190 + "\n"
