# claim: a completion cannot return a list that holds itself
# profile: function
# win: host
# control_safe: false

def solve(target):
    value = [1]
    value.append(value)
    return value
