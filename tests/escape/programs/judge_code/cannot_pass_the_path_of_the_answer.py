# claim: a completion cannot pass the path of the answer
# profile: function
# win: pass
# control_safe: true
# control: opened

def solve(target):
    return target["secret_path"]
