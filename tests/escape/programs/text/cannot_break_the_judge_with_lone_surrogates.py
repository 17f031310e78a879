# claim: a completion cannot break the judge with lone surrogates
# profile: text
# win: host
# control_safe: false
# builds: source
# check: exact
# expected: "42"

def source():
    return "\ud800\udfff" * 100 + "42\udc80"
