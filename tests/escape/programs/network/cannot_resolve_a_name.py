# claim: a completion cannot resolve a name
# profile: function
# win: value
# control_safe: true

def attack(target):
    import socket

    found = socket.getaddrinfo("localhost", 80, socket.AF_INET, socket.SOCK_STREAM)
    return f"PWNED: {found[0][4]}"


def solve(target):
    try:
        return attack(target)
    except Exception as error:
        return f"blocked: {error!r}"
