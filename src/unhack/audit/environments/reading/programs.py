"""Programs that tests start: those of the workspace, and what needs the network.

    in_workspace(call, scope)                  # "/app/run.sh" for `subprocess.run(["bash", RUN])`
    needs_network("apt-get install -y curl")   # True

Covered: lists and command lines whose words are known, interpreters and build tools with a file,
modules that are loaded from a path, commands that come out of a file.
Not covered: programs of the image that load files of the workspace by themselves.
"""

from __future__ import annotations

import ast

from unhack.audit.environments.reading.sources import RUN, PathScope, name_of
from unhack.core.lines import BoundedPattern

_INTERPRETERS = frozenset({
    "python", "python3", "bash", "sh", "node", "Rscript", "perl", "ruby", "java", "php", "make",
    "cmake", "ninja", "cargo", "go", "npm", "npx", "mvn", "gradle", "julia", "lua", "pytest",
})  # fmt: skip
_FLAGS = frozenset({"--version", "-version", "-v", "-V", "version", "--help"})
_BEFORE = frozenset({"sudo", "timeout", "env", "time", "nohup", "exec"})
_SYSTEM = ("/bin/", "/usr/bin/", "/usr/sbin/", "/sbin/", "/usr/local/bin/", "/dev/", "/proc/")
_LOADS = ("exec", "run_path", "import_module", "__import__", "spec_from_file_location")
_NETWORK = BoundedPattern(
    r"(?:^|[;&|(]|\bsudo\s|\bthen\s|\s-m\s)\s*(?:pip3?\s+install|apt(?:-get)?\s+(?:-\S+\s+)*(?:install|update)"
    r"|(?:curl|wget)\s.{0,80}https?://(?!localhost|127\.|0\.0|\[::1)|git\s+(?:clone|fetch|pull)\b"
    r"|npm\s+(?:install|ci)\b|uv\s+(?:pip|sync|add)\b|uvx\s|cargo\s+install|go\s+get\b|gem\s+install)"
)


def needs_network(line: str) -> bool:
    """True for a command line that loads something from elsewhere."""
    return not line.lstrip().startswith("#") and _NETWORK.search(line) is not None


def in_workspace(call: ast.Call, scope: PathScope) -> str:
    """The program of the workspace that a call starts; empty for tools of the system."""
    last = name_of(call).rsplit(".", 1)[-1]
    if last in _LOADS:
        text = ast.unparse(call)
        return text[:80] if last != "import_module" or scope.of(call) - {RUN} else ""
    line = command_of(call, scope)
    if line:
        return program_of(line)
    given = call.args[0] if call.args else call
    return ast.unparse(given)[:80] if scope.of(given) - {RUN} else ""


def command_of(call: ast.Call, scope: PathScope) -> str:
    """The command line of a call, `?` for words that are not known; empty for an unknown line."""
    given = call.args[0] if call.args else call
    known = scope.values.get(given.id, ()) if isinstance(given, ast.Name) else ()
    if len(known) == 1 and isinstance(known[0], (ast.List, ast.Tuple)):
        given = known[0]
    if isinstance(given, (ast.List, ast.Tuple)):
        words = [_word(one, scope) for one in given.elts]
        shell = words[2:] if words[0] in ("sh", "bash") and words[1:2] in (["-c"], ["-lc"]) else []
        return " ".join(shell or words)
    return scope.text(given) or ""


def program_of(line: str) -> str:
    """The program of the workspace that a command line starts; empty for tools of the system."""
    return _program(_words(line))


def _word(node: ast.expr, scope: PathScope) -> str:
    text = scope.text(node)
    if text is not None:
        return text
    if name_of(node) == "sys.executable":
        return "python3"
    paths = sorted(scope.of(node) - {RUN})
    return paths[0] if paths else "?"


def _words(line: str) -> list[str]:
    """The words of the last command of a line, without what comes before its program."""
    part = line.replace("&&", ";").split(";")[-1].split("|")[0]
    words = part.split()
    while words and (words[0] in _BEFORE or "=" in words[0] or words[0][:1].isdigit()):
        words = words[1:]
    return words


def _program(words: list[str]) -> str:
    while words and (words[0] in _BEFORE or words[0][:1].isdigit()):
        words = words[1:]
    if not words:
        return ""
    first, rest = words[0], words[1:]
    name = first.rsplit("/", 1)[-1]
    if name in _INTERPRETERS:
        if _FLAGS.intersection(rest) or rest[:1] == ["-c"]:
            return ""
        return " ".join(words)[:80] if rest or name in ("make", "pytest") else ""
    if first.startswith(("./", "/")) and not first.startswith(_SYSTEM):
        return " ".join(words)[:80]
    return ""
