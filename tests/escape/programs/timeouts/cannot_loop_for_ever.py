# claim: a completion cannot loop for ever
# profile: function
# win: host
# control_safe: false
# expect: timeout

def solve(target):
    while True:
        pass
