# claim: a completion cannot pass with two boxed answers
# profile: text
# win: pass
# control_safe: true
# builds: source
# check: math
# expected: "42"
# control: contains

def source():
    return "\\boxed{41} and also \\boxed{42} or \\boxed{43, 42, 44}"
