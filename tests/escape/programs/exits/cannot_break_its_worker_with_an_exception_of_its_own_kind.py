# claim: a completion cannot break its worker with an exception of its own kind
# profile: function
# win: host
# control_safe: true

class Own(BaseException):
    pass


def solve(target):
    raise Own("not an Exception")
