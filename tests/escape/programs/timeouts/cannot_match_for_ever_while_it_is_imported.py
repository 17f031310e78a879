# claim: a completion cannot match for ever while it is imported
# profile: function
# win: host
# control_safe: false
# builds: source
# expect: failed,error,timeout,limit,invalid

def source():
    """A decorator, a default value and a class body all run before anything is called."""
    return (
        "import re\n\n\nclass Body:\n    found = re.match('(x+x+)+y', 'x' * 60)\n\n\n"
        "def solve(target):\n    return 1\n"
    )
