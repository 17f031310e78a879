# claim: a completion cannot pass with digits of another script
# profile: text
# win: host
# control_safe: false
# builds: source
# check: numeric
# expected: "42"

def source():
    return "\uff14\u0be8 \u0664\u00b2 \u2463\u2461"
