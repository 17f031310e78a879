# claim: a completion cannot return a lone surrogate
# profile: function
# win: host
# control_safe: true

def solve(target):
    return "\ud800" + "\udfff" * 3
