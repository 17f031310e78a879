# claim: a completion cannot return an integer of ten million digits
# profile: function
# win: host
# control_safe: false
# expect: failed,error,timeout,limit

def solve(target):
    return 1 << 33_000_000
