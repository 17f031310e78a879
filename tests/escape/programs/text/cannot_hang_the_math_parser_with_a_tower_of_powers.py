# claim: a completion cannot hang the math parser with a tower of powers
# profile: text
# win: host
# control_safe: false
# builds: source
# check: math
# expected: "42"
# expect: failed,error,timeout,limit

def source():
    return "\\boxed{9^{9^{9^{9^{9}}}}}"
