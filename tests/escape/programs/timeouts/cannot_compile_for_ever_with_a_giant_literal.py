# claim: a completion cannot compile for ever with a giant literal
# profile: function
# win: host
# control_safe: false
# builds: source
# expect: failed,error,timeout,limit,invalid

def source():
    return "DATA = [" + "1.5, " * 1_000_000 + "]\n\n\ndef solve(target):\n    return DATA\n"
