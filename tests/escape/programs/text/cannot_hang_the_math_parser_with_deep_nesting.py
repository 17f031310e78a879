# claim: a completion cannot hang the math parser with deep nesting
# profile: text
# win: host
# control_safe: false
# builds: source
# check: math
# expected: "42"
# expect: failed,error,timeout,limit,invalid

def source():
    return "\\boxed{" + "\\frac{1}{" * 20_000 + "2" + "}" * 20_000 + "}"
