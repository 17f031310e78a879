# claim: a completion cannot leave a tree too deep to walk
# profile: scratch
# win: left_over
# control_safe: true
# leaves: 2,000 nested directories, deeper than PATH_MAX
import os
import tempfile


def solve(target):
    os.chdir(os.environ.get("TMPDIR", tempfile.gettempdir()))
    for _ in range(2000):
        os.mkdir("deep")
        os.chdir("deep")
    return "made"
