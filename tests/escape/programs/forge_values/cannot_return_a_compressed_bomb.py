# claim: a completion cannot return a compressed bomb
# profile: function
# win: host
# control_safe: false
# expect: failed,error,timeout,limit
import zlib


def solve(target):
    packer = zlib.compressobj(9)
    block = bytes(1 << 20)
    parts = [packer.compress(block) for _ in range(1024)]
    return b"".join(parts) + packer.flush()
