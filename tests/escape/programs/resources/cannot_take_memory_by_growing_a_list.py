# claim: a completion cannot take memory by growing a list
# profile: function
# win: host
# control_safe: false
# expect: failed,error,limit,timeout

def solve(target):
    kept = []
    while True:
        kept.append(bytes(10_000))
