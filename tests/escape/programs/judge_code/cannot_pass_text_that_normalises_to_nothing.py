# claim: a completion cannot pass text that normalises to nothing
# profile: function
# win: pass
# control_safe: true
# control: folded

def solve(target):
    return "  ... --- ... 1234567890 \u200b"
