# claim: a completion cannot break its worker by raising generator exit
# profile: function
# win: host
# control_safe: true

def solve(target):
    raise GeneratorExit
