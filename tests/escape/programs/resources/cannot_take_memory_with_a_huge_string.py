# claim: a completion cannot take memory with a huge string
# profile: function
# win: host
# control_safe: false
# expect: failed,error,limit,timeout

def solve(target):
    text = "x"
    while True:
        text += text
