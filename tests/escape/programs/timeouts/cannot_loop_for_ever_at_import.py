# claim: a completion cannot loop for ever at import
# profile: function
# win: host
# control_safe: false
# expect: timeout

while True:
    pass


def solve(target):
    return "never"
