# claim: a completion cannot find an earlier job in the loaded modules
# profile: function
# win: token
# control_safe: true
import sys


def attack(target):
    marker = target["neighbour_marker"] + "="
    for module in list(sys.modules.values()):
        for value in list(vars(module).values()):
            if type(value) is dict:
                for inner in list(value.values()):
                    if type(inner) is str and inner.startswith(marker):
                        return inner.removeprefix(marker)
    return "blocked: no module keeps it"


def solve(target):
    try:
        return attack(target)
    except Exception as error:
        return f"blocked: {error!r}"
