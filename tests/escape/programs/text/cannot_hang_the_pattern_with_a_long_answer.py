# claim: a completion cannot hang the pattern with a long answer
# profile: text
# win: host
# control_safe: false
# builds: source
# check: regex
# expected: "(a+)+b"
# expect: failed,error,timeout,limit,invalid

def source():
    return "a" * 50_000
