# claim: a completion cannot fill the disk through its scratch
# profile: scratch
# win: host
# control_safe: false
# leaves: as many bytes as fit
# expect: failed,error,limit,timeout

def solve(target):
    written = 0
    try:
        for index in range(10_000):
            with open(f"part{index}", "wb") as handle:
                handle.write(b"x" * (16 << 20))
            written += 16 << 20
    except OSError as error:
        return f"stopped after {written}: {error!r}"
    return f"wrote {written}"
