# claim: a completion cannot return a coroutine
# profile: function
# win: host
# control_safe: false

async def solve(target):
    return target
