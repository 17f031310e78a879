# claim: a completion cannot fetch a page from the host
# profile: function
# win: value
# control_safe: true

def attack(target):
    import http.client
    import urllib.request

    try:
        urllib.request.urlopen(f"http://127.0.0.1:{target['tcp_port']}/", timeout=3)
    except http.client.BadStatusLine as error:
        return f"PWNED: the host said {error.line!r}"
    return "PWNED: the host answered"


def solve(target):
    try:
        return attack(target)
    except Exception as error:
        return f"blocked: {error!r}"
