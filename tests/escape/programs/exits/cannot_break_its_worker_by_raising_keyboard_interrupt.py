# claim: a completion cannot break its worker by raising KeyboardInterrupt
# profile: function
# win: host
# control_safe: true

def solve(target):
    raise KeyboardInterrupt
