# claim: a completion cannot pass an empty part of the answer
# profile: function
# win: pass
# control_safe: true
# control: within

def solve(target):
    return ""
