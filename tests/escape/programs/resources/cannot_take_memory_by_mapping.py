# claim: a completion cannot take memory by mapping
# profile: function
# win: host
# control_safe: false
# expect: failed,error,limit,timeout

def solve(target):
    import mmap

    kept = []
    try:
        while True:
            area = mmap.mmap(-1, 64 << 20)
            area.write(b"\1" * (64 << 20))
            kept.append(area)
    except (OSError, MemoryError) as error:
        return f"stopped after {len(kept)}: {error!r}"
