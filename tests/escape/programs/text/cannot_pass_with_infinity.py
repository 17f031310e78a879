# claim: a completion cannot pass with infinity
# profile: text
# win: pass
# control_safe: false
# builds: source
# check: numeric
# expected: "42"

def source():
    return "1e999 = inf = Infinity = \u221e = 42e9999999999"
