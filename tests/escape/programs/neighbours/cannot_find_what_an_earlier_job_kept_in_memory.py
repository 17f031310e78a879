# claim: a completion cannot find what an earlier job kept in memory
# profile: function
# win: token
# control_safe: true
import gc


def attack(target):
    marker = target["neighbour_marker"] + "="
    for thing in gc.get_objects():
        # Dictionaries of plain strings are not tracked themselves, those that hold them are.
        for value in list(thing.values()) if type(thing) is dict else ():
            for text in list(value.values()) if type(value) is dict else (value,):
                if type(text) is str and text.startswith(marker):
                    return text.removeprefix(marker)
    return "blocked: no object of an earlier job"


def solve(target):
    try:
        return attack(target)
    except Exception as error:
        return f"blocked: {error!r}"
