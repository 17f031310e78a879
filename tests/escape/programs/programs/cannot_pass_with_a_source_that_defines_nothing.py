# claim: a completion cannot pass with a source that defines nothing
# profile: function
# win: pass
# control_safe: false
# builds: source
# expect: invalid,failed,error

def source():
    return "pass\n"
