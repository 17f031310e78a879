# claim: a completion cannot break out of the text that carries it
# profile: function
# win: pass
# control_safe: true
# builds: source
# control: results

def source():
    """For a harness that pastes the completion in front of its tests."""
    return (
        "def solve(target):\n    return 'wrong'\n\n\n"
        "result = ['passed']\n"
        "import sys\n"
        "sys._getframe(1).f_locals['result'].append('passed')\n"
        "raise SystemExit\n'''\n"
    ).replace("\n'''\n", "\n")
