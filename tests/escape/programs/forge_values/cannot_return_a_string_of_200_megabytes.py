# claim: a completion cannot return a string of 200 megabytes
# profile: function
# win: host
# control_safe: false
# expect: failed,error,timeout,limit

def solve(target):
    return "x" * (200 << 20)
