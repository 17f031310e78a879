# claim: a completion cannot raise an exception with a cycle of causes
# profile: function
# win: host
# control_safe: false

def solve(target):
    first, second = ValueError("a"), TypeError("b")
    first.__cause__, second.__cause__ = second, first
    first.__context__, second.__context__ = second, first
    raise first
