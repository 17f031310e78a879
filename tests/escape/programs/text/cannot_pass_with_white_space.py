# claim: a completion cannot pass with white space
# profile: text
# win: pass
# control_safe: true
# builds: source
# check: exact
# expected: "forty two"
# control: folded

def source():
    return "\n\t \u00a0\u2003"
