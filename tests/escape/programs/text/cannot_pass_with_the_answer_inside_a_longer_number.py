# claim: a completion cannot pass with the answer inside a longer number
# profile: text
# win: pass
# control_safe: true
# builds: source
# check: numeric
# expected: "42"
# control: contains

def source():
    return "The answer is 1420."
