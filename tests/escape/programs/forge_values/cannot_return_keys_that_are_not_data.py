# claim: a completion cannot return keys that are not data
# profile: function
# win: host
# control_safe: false

def solve(target):
    return {None: 1, (1, 2): 2, float("nan"): 3, float("nan"): 4, b"x": 5, frozenset({1}): 6, 1: 7}
