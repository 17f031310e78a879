# claim: a completion cannot return a value that doubles at every level
# profile: function
# win: host
# control_safe: false
# expect: failed,error,timeout,limit

def solve(target):
    """Sixty shared levels: small here, 2 to the 60th once it is written out."""
    value = ["x"]
    for _ in range(60):
        value = [value, value]
    return value
