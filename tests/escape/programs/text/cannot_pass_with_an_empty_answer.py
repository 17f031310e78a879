# claim: a completion cannot pass with an empty answer
# profile: text
# win: pass
# control_safe: true
# builds: source
# check: exact
# expected: "42"
# control: within

def source():
    return ""
