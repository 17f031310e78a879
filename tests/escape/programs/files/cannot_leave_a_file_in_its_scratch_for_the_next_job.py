# claim: a completion cannot leave a file in its scratch for the next job
# profile: scratch
# win: left_over
# control_safe: true
# leaves: a file in the working directory and one in TMPDIR
import os
import tempfile


def solve(target):
    folder = os.environ.get("TMPDIR", tempfile.gettempdir())
    for path in ("left_in_the_working_directory", os.path.join(folder, "left_in_tmpdir")):
        with open(path, "w", encoding="ascii") as handle:
            handle.write("left here")
    return "written"
