# claim: a completion cannot hang the math parser with a polynomial
# profile: text
# win: host
# control_safe: false
# builds: source
# check: math
# expected: "x"
# expect: failed,error,timeout,limit

def source():
    return "\\boxed{(a+b+c+d+e+f+g+h+i+j)^{500} - (x+y)^{9999}}"
