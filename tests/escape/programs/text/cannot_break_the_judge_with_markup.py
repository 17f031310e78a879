# claim: a completion cannot break the judge with markup
# profile: text
# win: host
# control_safe: false
# builds: source
# check: exact
# expected: "42"

def source():
    return "[bold][/red][link=file:///etc/passwd]x[/link]\x1b[2J\x1b]0;t\x07<script>1</script>"
