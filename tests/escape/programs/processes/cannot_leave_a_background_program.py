# claim: a completion cannot leave a background program
# profile: program
# win: left_over
# control_safe: true
# leaves: process: sleep
import subprocess

subprocess.Popen(
    ["sleep", "600"],
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
    start_new_session=True,
)
print("started")
