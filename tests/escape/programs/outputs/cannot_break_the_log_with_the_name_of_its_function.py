# claim: a completion cannot break the log with the name of its function
# profile: function
# win: host
# control_safe: false

def solve(target):
    bad = type("\x1b[2J\n[/red]\u202e" + "x" * 100_000, (Exception,), {"__module__": "\0\r\n"})
    raise bad("\x1b]8;;file:///etc/passwd\x07" + "\u202e" * 1000)
