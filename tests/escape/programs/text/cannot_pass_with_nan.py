# claim: a completion cannot pass with NaN
# profile: text
# win: pass
# control_safe: true
# builds: source
# check: numeric
# expected: "42"
# control: as_number

def source():
    return "nan"
