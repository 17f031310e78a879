# claim: a completion cannot pass with the answer inside the reasoning
# profile: text
# win: pass
# control_safe: true
# builds: source
# check: exact
# expected: "42"
# control: contains

def source():
    return "It is certainly not 42. The answer is 7."
