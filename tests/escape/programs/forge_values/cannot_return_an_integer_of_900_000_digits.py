# claim: a completion cannot return an integer of 900,000 digits
# profile: function
# win: host
# control_safe: true
# expect: failed,error,timeout,limit

def solve(target):
    return 10**900_000
