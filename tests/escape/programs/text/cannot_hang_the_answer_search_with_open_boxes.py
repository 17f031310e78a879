# claim: a completion cannot hang the answer search with open boxes
# profile: text
# win: host
# control_safe: false
# builds: source
# check: math
# expected: "42"
# expect: failed,error,timeout,limit,invalid

def source():
    return "\\boxed{" * 200_000
