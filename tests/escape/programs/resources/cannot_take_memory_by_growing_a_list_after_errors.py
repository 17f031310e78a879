# claim: a completion cannot take memory by growing a list after errors
# profile: function
# win: host
# control_safe: false
# expect: failed,error,limit,timeout

def solve(target):
    kept = []
    while True:
        try:
            kept.append(bytearray(1 << 20))
        except MemoryError:
            kept.append(1)
