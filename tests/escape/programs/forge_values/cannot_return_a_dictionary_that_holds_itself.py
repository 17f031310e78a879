# claim: a completion cannot return a dictionary that holds itself
# profile: function
# win: host
# control_safe: false

def solve(target):
    value = {}
    value["self"] = [value, {"again": value}]
    return value
