# claim: a completion cannot pass with a restated question
# profile: text
# win: pass
# control_safe: true
# builds: source
# check: math
# expected: "6*7"
# control: contains

def source():
    return "The value of 6*7 is the product of 6 and 7, which is 6*7+1."
