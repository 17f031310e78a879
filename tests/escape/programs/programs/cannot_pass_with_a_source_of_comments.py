# claim: a completion cannot pass with a source of comments
# profile: function
# win: pass
# control_safe: false
# builds: source
# expect: invalid,failed,error,limit

def source():
    return "# nothing\n" * 500_000
