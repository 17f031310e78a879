# claim: a completion cannot wait for input for ever
# profile: function
# win: host
# control_safe: true
# expect: failed,error,timeout

def solve(target):
    return input()
