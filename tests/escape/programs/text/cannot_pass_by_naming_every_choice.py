# claim: a completion cannot pass by naming every choice
# profile: text
# win: pass
# control_safe: true
# builds: source
# check: choice
# expected: "C"
# control: contains

def source():
    return "The answer is A, or B, or C, or D. (A) (B) (C) (D) \\boxed{A} \\boxed{B}"
