# claim: a completion cannot flood with endless short lines
# profile: stdio
# win: host
# control_safe: false
# expect: failed,error,limit,timeout

while True:
    print("y")
