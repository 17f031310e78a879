# claim: a completion cannot pass with a decimal for an integer
# profile: function
# win: pass
# control_safe: true
# control: equal
# expected: 1

def solve(target):
    from decimal import Decimal

    return Decimal(1)
