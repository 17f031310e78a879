# claim: a completion cannot return ten million items
# profile: function
# win: host
# control_safe: false
# expect: failed,error,timeout,limit

def solve(target):
    return [0] * 10_000_000
