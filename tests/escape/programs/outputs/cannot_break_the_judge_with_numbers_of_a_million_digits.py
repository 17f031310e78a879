# claim: a completion cannot break the judge with numbers of a million digits
# profile: stdio
# win: host
# control_safe: false
# expected: "1"
# expect: failed,error,limit,timeout

print("1" * 900_000, "1e999999999", "-0x1p99999", "1" * 100 + "." + "0" * 900_000)
