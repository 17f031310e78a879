# claim: a completion cannot hang the math parser with an integral
# profile: text
# win: host
# control_safe: false
# builds: source
# check: math
# expected: "42"
# expect: failed,error,timeout,limit

def source():
    return "\\boxed{\\int_0^1 x^{x^{x^{\\sin(e^{x^7})}}} dx}"
