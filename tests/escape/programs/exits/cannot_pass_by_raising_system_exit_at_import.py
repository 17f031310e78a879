# claim: a completion cannot pass by raising SystemExit at import
# profile: function
# win: pass
# control_safe: true
# control: script
# expect: error,failed,invalid

raise SystemExit(0)


def solve(target):
    return "wrong"
