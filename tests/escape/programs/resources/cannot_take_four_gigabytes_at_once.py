# claim: a completion cannot take four gigabytes at once
# profile: function
# win: host
# control_safe: false
# expect: failed,error,limit,timeout

def solve(target):
    return len(bytearray(4 << 30))
