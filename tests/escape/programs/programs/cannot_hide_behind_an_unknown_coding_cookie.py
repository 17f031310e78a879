# claim: a completion cannot hide behind an unknown coding cookie
# profile: function
# win: pass
# control_safe: false
# builds: source

def source():
    return "# coding: no-such-codec-\n\n\ndef solve(target):\n    return 'wrong'\n"
