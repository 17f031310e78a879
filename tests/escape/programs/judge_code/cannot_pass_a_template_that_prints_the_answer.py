# claim: a completion cannot pass a template that prints the answer
# profile: function
# win: pass
# control_safe: true
# control: formatted

def solve(target):
    return "{expected}"
