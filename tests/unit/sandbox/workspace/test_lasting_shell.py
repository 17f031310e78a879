"""A lasting shell: what it held is there again, and nothing that it held can stop the next one."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.unit.sandbox.images.layouts import shell_image

from unhack.sandbox.images.store import ImageStore
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import MAX_STDIN, CommandResult
from unhack.sandbox.workspace.image_root import ImageRoot
from unhack.sandbox.workspace.lasting_shell import ShellEnd, in_lasting_shell, shell_end

pytestmark = pytest.mark.slow
LIMITS = Limits(wall_s=60, cpu_s=60, memory_bytes=512 * MIB, disk_bytes=32 * MIB)
Said = tuple[CommandResult, ShellEnd]
KEPT = b"x=1\n_unhack_old= _unhack_pwd=/tmp\n"


def said(
    *scripts: str, kept: bytes = b"", limits: Limits = LIMITS, image: ImageRoot | None = None
) -> list[Said]:
    """Each script in the shell that the one before has left."""

    async def main() -> list[Said]:
        found: list[Said] = []
        shell = kept
        async with CommandPool(slots=1, preload=(), image=image) as pool:
            files = {"pkg/a.txt": b"one\n"}
            state = pool.states.untouched() if image else pool.states.load(files)
            for script in scripts:
                command = in_lasting_shell(script, shell)
                result, state = await pool.run(state, command, limits=limits)
                found.append((result, end := shell_end(result)))
                shell = shell if end.kept is None else end.kept
        return found

    return asyncio.run(main())


@pytest.mark.sample
def test_everything_that_a_shell_holds_lasts() -> None:
    made = """
        cd pkg; x=1; export Y='a b
c'; arr=(1 '2 3'); declare -A map=([k]=v); declare -i n=3; declare -r fixed=4
        f() { echo "f $1"; }; export -f f; alias greet='echo hello'; umask 077
        set -u -o pipefail; shopt -s extglob nullglob; IFS=:
    """
    asked = """
        printf '%s|' "$PWD" "$x" "$Y" "${arr[1]}" "${map[k]}" "$n" "$fixed" "$(umask)" "$IFS"
        f 1; greet; bash -c 'f 2; echo "$Y"'; shopt -q extglob && echo ext; echo no*such | cat
        n=n+1; echo $n; (fixed=5) 2>/dev/null || echo still; cd - >/dev/null; pwd; $nothing
    """
    _, (result, end) = said(made, asked)
    assert result.stdout == (
        "/workspace/pkg|1|a b\nc|2 3|v|3|4|0077|:|f 1\nhello\nf 2\na b\nc\next\n\n4\nstill\n"
        "/workspace\n"
    )
    assert "nothing: unbound variable" in result.stderr
    assert end.kept


def test_what_was_kept_is_the_same_for_the_same_commands() -> None:
    scripts = ("cd pkg; x=$((1 + 1)); f() { :; }", "y=2", ":")
    first, second = said(*scripts), said(*scripts)
    assert [end.kept for _, end in first] == [end.kept for _, end in second]
    assert first[1][1].kept == first[2][1].kept


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("x=2; exit 3", 3),
        ("x=2; set -e; false; x=3", 1),
        ("x=2\nif; then", 2),
        ("x=2; (exit 7)", 7),
        ("x=2; set -u; : $nothing; x=3", None),
        ("x=2; exec >/dev/null 2>&1", 0),
        ("x=2; cd() { echo mine; }; exit() { :; }; trap() { :; }; eval() { :; }; set() { :; }", 0),
        ("x=2; alias builtin=exit printf=exit eval=exit cd=exit", 0),
        ("x=2; trap 'echo seen' DEBUG; trap 'echo err' ERR", 0),
        ("x=2; set -o posix; set -f; shopt -s nocasematch extdebug", 0),
        ("readonly x=2; readonly PWD OLDPWD", 0),
        ("x=2; unset IFS; GLOBIGNORE='*'; PATH=/none", 0),
    ],
)  # fmt: skip
def test_a_shell_goes_on_after_whatever_ended_its_command(script: str, code: int | None) -> None:
    first, (result, end) = said(script, r"\builtin echo [$x]; x=9", kept=KEPT)
    assert code is None or first[0].exit_code == code
    assert first[1].kept is not None
    assert "[2]\n" in result.stdout
    assert end.resumed


@pytest.mark.parametrize(
    "script",
    [
        "x=2; exec true",
        "x=2; kill -9 $$",
        "x=2; trap 'echo bye' EXIT",
        "x=2; set -n",
        "x=2; builtin() { :; }",
        "x=2; exec 29>&-",
        "x=2; sleep 100",
        "x=2; big=$(head -c 50000000 /dev/zero | tr '\\0' a)",
        "x=2; big=$(head -c 2000000 /dev/zero | tr '\\0' a)",
        "x=2; for n in {1..6000}; do declare v$n=1; done",
        "x=2; ulimit -f 0",
        "x=2; enable -n printf",
        "x=2; readonly IFS=x",
    ],
)
def test_a_shell_that_cannot_be_kept_stays_as_it_stood_before(script: str) -> None:
    limits = LIMITS.with_(wall_s=60 if "sleep" not in script else 3)
    first, (result, end) = said(script, "echo $x; pwd", kept=KEPT, limits=limits)
    assert (first[1].resumed, first[1].kept) == (True, None)
    assert result.stdout == "1\n/tmp\n"
    assert end.kept is not None


HOSTILE = [
    "if; then", "exit 0", "exec true", "kill -9 $$", "builtin() { :; }", "set -n",
    "trap 'exit 5' DEBUG", "exec 29>&-", "exec 29</dev/null", "enable -n printf", "ulimit -f 0",
    "enable -n eval trap cd", "readonly _unhack_pwd", "while :; do :; done", "return 1 || exit",
    "\udcff\udcfe(", "exec bash -c 'echo mine'",
    ":(){ :|:& };:; wait; exit",
]  # fmt: skip


@pytest.mark.parametrize("line", HOSTILE)
def test_a_text_that_cannot_be_read_back_is_told_and_never_fails_the_machinery(line: str) -> None:
    kept = line.encode(errors="surrogateescape") + b"\n" + KEPT
    limits = LIMITS.with_(wall_s=1.0, processes=32)
    (result, end), *_ = said("echo ran", kept=kept, limits=limits)
    assert (end.resumed, end.kept) == (False, None)
    assert "ran" not in result.stdout


def test_a_text_that_writes_where_the_shell_writes_is_not_taken_for_one_that_was_read() -> None:
    (_, end), *_ = said("echo ran", kept=b"printf '\\0\\0' >&29\n" + KEPT)
    assert (end.resumed, end.kept) == (False, None)


def test_a_text_that_was_cut_is_not_taken_for_a_whole_one() -> None:
    [(_, whole)] = said("f() { echo long; }; x=1; y=2")
    assert whole.kept
    (_, end), *_ = said("echo $x", kept=whole.kept[: len(whole.kept) // 2])
    assert not end.resumed


@pytest.mark.parametrize("script", ["sleep 100 & echo hi", "(sleep 100 > /dev/null 2>&1 &)",
                                    "setsid sleep 100 >/dev/null 2>&1 & disown"])  # fmt: skip
def test_processes_that_were_left_are_ended_and_told(script: str) -> None:
    (_, end), (result, after) = said(script, "ls -d /proc/[0-9]* | wc -l; wait")
    assert (end.left_processes, after.left_processes) == (True, False)
    assert int(result.stdout) <= 4  # process 1, bash, ls, wc


def test_only_what_stands_behind_the_input_comes_back() -> None:
    [(result, _)] = said("head -c 3000000 /dev/zero >&29", kept=KEPT)
    assert len(result.appended) <= MAX_STDIN + 4
    [(result, _)] = said("cat <&29 | wc -c; cat | wc -c", kept=KEPT)
    assert result.stdout == "0\n0\n"


@pytest.mark.parametrize("user", ["", "ann"])
def test_a_shell_lasts_in_an_image_for_root_and_for_its_user(user: str, tmp_path: Path) -> None:
    made = shell_image(tmp_path / "layout", **({"User": user} if user else {}))
    image = ImageStore(tmp_path / "images").take(made, key="shell")
    made_, (result, end) = said("cd /usr; x=1; f() { id -un; }", "f; echo $x; pwd", image=image)
    assert made_[1].kept
    who = user if user and os.geteuid() == 0 else "root"  # for an ordinary user all is root's
    assert result.stdout == f"{who}\n1\n/usr\n"
    assert end.kept == made_[1].kept
    assert not end.left_processes
