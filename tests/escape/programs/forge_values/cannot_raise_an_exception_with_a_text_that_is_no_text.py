# claim: a completion cannot raise an exception with a text that is no text
# profile: function
# win: host
# control_safe: true

class Broken(Exception):
    def __str__(self):
        return "\udcff\ud800\x00\x1b[2J"

    def __repr__(self):
        return 5


def solve(target):
    raise Broken
