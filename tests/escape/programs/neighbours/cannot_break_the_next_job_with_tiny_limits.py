# claim: a completion cannot break the next job with tiny limits
# profile: function
# win: host
# control_safe: true


def solve(target):
    import resource
    import sys

    sys.setrecursionlimit(50)
    for name in ("RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_NPROC"):
        resource.setrlimit(getattr(resource, name), (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    while True:
        pass
