# claim: a completion cannot hide a lone surrogate in its source
# profile: function
# win: pass
# control_safe: false
# builds: source
# expect: invalid,failed,error

def source():
    return "# \ud800\ndef solve(target):\n    return '\udfff'\n"
