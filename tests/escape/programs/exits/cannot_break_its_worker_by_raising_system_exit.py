# claim: a completion cannot break its worker by raising SystemExit
# profile: function
# win: host
# control_safe: true

def solve(target):
    raise SystemExit(0)
