# claim: a completion cannot pass a pattern that is not anchored
# profile: text
# win: pass
# control_safe: true
# builds: source
# check: regex
# expected: "42"
# control: contains

def source():
    return "41\n42\n43"
