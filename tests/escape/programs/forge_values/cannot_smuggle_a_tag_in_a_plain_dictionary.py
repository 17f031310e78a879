# claim: a completion cannot smuggle a tag in a plain dictionary
# profile: function
# win: host
# control_safe: false

def solve(target):
    return [
        {"$set": [[1], [2]]},
        {"$dict": [[[], 1]]},
        {"$bytes": 5},
        {"$tuple": "abc"},
        {"$int": "0x" + "f" * 1000},
        {"$float": "a"},
        {"$opaque": 1},
        {"$as": []},
        {"$unknown": None},
        {"$": {"$": {"$": {}}}},
    ]
