# claim: a completion cannot hang the number search with digits
# profile: text
# win: host
# control_safe: false
# builds: source
# check: numeric
# expected: "42"
# expect: failed,error,timeout,limit,invalid

def source():
    return "1" * 1_000_000 + "." + "1,1" * 300_000 + "e" * 100_000
