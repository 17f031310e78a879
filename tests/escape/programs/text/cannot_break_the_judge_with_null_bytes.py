# claim: a completion cannot break the judge with null bytes
# profile: text
# win: pass
# control_safe: false
# builds: source
# check: exact
# expected: "42"

def source():
    return "42\x00 is wrong\x00"
