# claim: a completion cannot hang the math parser with a factorial
# profile: text
# win: host
# control_safe: false
# builds: source
# check: math
# expected: "42"
# expect: failed,error,timeout,limit

def source():
    return "\\boxed{((99999999999!)!)!}"
