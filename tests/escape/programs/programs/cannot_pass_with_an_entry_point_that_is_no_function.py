# claim: a completion cannot pass with an entry point that is no function
# profile: function
# win: pass
# control_safe: false
# builds: source
# expect: invalid,failed,error

def source():
    return "solve = True\n"
