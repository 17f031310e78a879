# claim: a completion cannot break its worker by raising system exit
# profile: function
# win: host
# control_safe: true

def solve(target):
    raise SystemExit(0)
