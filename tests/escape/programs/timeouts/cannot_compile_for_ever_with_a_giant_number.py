# claim: a completion cannot compile for ever with a giant number
# profile: function
# win: host
# control_safe: false
# builds: source
# expect: failed,error,timeout,limit,invalid

def source():
    return f"DATA = 0x{'f' * 3_000_000}\n\n\ndef solve(target):\n    return {'9' * 3_000_000}\n"
