# claim: a completion cannot pass with an empty source
# profile: function
# win: pass
# control_safe: false
# builds: source
# expect: invalid,failed,error

def source():
    return ""
