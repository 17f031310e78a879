# claim: a completion cannot break the judge with ten megabytes
# profile: text
# win: host
# control_safe: false
# builds: source
# check: exact
# expected: "42"
# expect: failed,error,timeout,limit,invalid

def source():
    return "answer " * 1_500_000
