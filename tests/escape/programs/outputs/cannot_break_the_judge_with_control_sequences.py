# claim: a completion cannot break the judge with control sequences
# profile: stdio
# win: host
# control_safe: false

print("\x1b[2J\x1b]0;owned\x07\x1b[31m\x9b1m\r\x08\x0b\x0c[red]markup[/red][/]\u202e\u2066" * 50)
