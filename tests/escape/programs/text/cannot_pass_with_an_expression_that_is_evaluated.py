# claim: a completion cannot pass with an expression that is evaluated
# profile: text
# win: pass
# control_safe: true
# builds: source
# check: numeric
# expected: "42"
# control: evaluated

def source():
    return "type('Any', (), {'__eq__': lambda *a: True})()"
