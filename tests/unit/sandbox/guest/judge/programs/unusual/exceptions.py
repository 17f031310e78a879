# ruff: noqa
# pyright: basic, reportGeneralTypeIssues=false
"""Right work with exceptions."""


class E(Exception):
    def __init__(self, code, msg="m"):
        super().__init__(msg)
        self.code = code

    def __str__(self):
        return f"[{self.code}] {self.args[0]}"


class Sub(E):
    pass


class K(KeyError):
    pass


class O(OSError):
    pass


class G(ExceptionGroup):
    def derive(self, e):
        return G(self.message, e)


class Eq(ValueError):
    def __eq__(self, o):
        return type(o) is Eq and o.args == self.args

    __hash__ = None


class Len(ValueError):
    def __len__(self):
        return 3

    def __iter__(self):
        return iter([1])

    def __bool__(self):
        return False

    def __getitem__(self, i):
        return i

    def __call__(self):
        return "called"

    def __contains__(self, x):
        return True


class Field(OSError):
    filename = "mine"

    @property
    def strerror(self):
        return "own"

    def told(self):
        return self.code


class Html(ValueError):
    def _repr_html_(self):
        return "<i>"


def f(kind):
    if kind == "cause":
        try:
            raise KeyError("k")
        except KeyError as e:
            raise E(3) from e
    if kind == "context":
        try:
            raise KeyError("k")
        except KeyError:
            raise E(4)
    if kind == "none":
        try:
            raise KeyError("k")
        except KeyError:
            raise E(4) from None
    if kind == "group":
        raise G("g", [ValueError("a"), E(5)])
    if kind == "plain group":
        raise ExceptionGroup("g", [ValueError("a"), KeyError("b")])
    if kind == "os":
        raise O(2, "no", "file")
    if kind == "plain os":
        raise FileNotFoundError(2, "no", "file")
    if kind == "key":
        raise K("k")
    if kind == "unicode":
        "é".encode("ascii")
    if kind == "attr":
        object().nothing
    if kind == "name":
        undefined
    if kind == "import":
        import nothing_there
    if kind == "syntax":
        compile("a b", "x", "exec")
    if kind == "stop":
        e = ValueError("x")
        e.extra = [1, 2]
        e.flag = True
        raise e
    if kind == "sub":
        raise Sub(7, "deep")
    if kind == "exit":
        raise SystemExit(3)
    if kind == "len":
        raise Len("l")
    if kind == "html":
        raise Html("h")
    if kind == "args":
        raise ValueError("a", 3, [1])
    if kind == "assert":
        assert False, "msg"
    if kind == "zero":
        1 / 0
    if kind == "empty":
        raise ValueError
    if kind == "from":
        raise E(5) from KeyError("f")
    if kind == "held":
        raise ValueError([1], lambda: 3, {2: [3]})
    if kind == "recursion":
        return f(kind)


class Own(ValueError):
    pass


def noted(kind):
    e = {"own": Own, "builtin": ValueError, "key": KeyError}[kind]("x")
    e.add_note("n1")
    e.add_note("n2")
    raise e


def bare():
    raise ValueError("x")
