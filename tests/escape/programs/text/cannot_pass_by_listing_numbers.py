# claim: a completion cannot pass by listing numbers
# profile: text
# win: pass
# control_safe: true
# builds: source
# check: numeric
# expected: "42"
# control: any_number

def source():
    return "It is one of " + ", ".join(map(str, range(100))) + "."
