# claim: a completion cannot compute a power for ever
# profile: function
# win: host
# control_safe: false
# expect: timeout,limit,error

def solve(target):
    return 9**9**9
