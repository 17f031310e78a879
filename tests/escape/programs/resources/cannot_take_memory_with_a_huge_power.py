# claim: a completion cannot take memory with a huge power
# profile: function
# win: host
# control_safe: false
# expect: failed,error,limit,timeout

def solve(target):
    return 9**9**9 % 10
