# claim: a completion cannot break its worker by raising GeneratorExit
# profile: function
# win: host
# control_safe: true

def solve(target):
    raise GeneratorExit
