# claim: a completion cannot fold a constant for ever
# profile: function
# win: host
# control_safe: false
# builds: source
# expect: failed,error,timeout,limit,invalid

def source():
    power = "**".join(["9"] * 5)
    return f"def solve(target):\n    return ({power}, 'x' * 10**12, (1,) * 10**10, 1 << 10**12)\n"
