"""A shell that lasts, over commands whose processes do not: each reads back what the last one held.

    result, after = await pool.run(state, in_lasting_shell("cd pkg; x=1", b""), limits=limits)
    kept = shell_end(result).kept
    result, _ = await pool.run(after, in_lasting_shell("echo $x; pwd", kept), limits=limits)

The text lies beside the files of a state, on standard input, a file in memory that only the command
can write to. So a fork is a second reference, no judge and no tool ever sees it, and it can deceive
nobody: it is a program that the agent wrote for itself, run with the agent's rights.

Covered: working directory, variables with their attributes (exported, arrays, read-only),
functions, aliases, options (`set`, `shopt`) and umask; they are written down at `exit` and `set -e`
too. A text that cannot be read back, and an end without one (a signal, `exec`, a trap on EXIT of
its own, more than `MAX_STDIN` bytes or 5,000 variables), are told.
Not covered: positional parameters, traps, jobs, history, redirections; shells other than bash.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from unhack.sandbox.workspace.commands import MAX_STDIN, Command, CommandResult

_SCRIPT = 'exec 29<&0 </dev/null; builtin eval "$1"; builtin eval {}'
# In braces, which are read whole: an alias or an option that the text brings changes none of it.
_RESTORE = r"""{ shopt -s expand_aliases
IFS= read -r -d "" -u 29 _unhack_text
builtin eval "$_unhack_text" >/dev/null
[[ -z $_unhack_text || -n ${_unhack_pwd-} ]] || \builtin exit 1
\builtin cd -- "${_unhack_pwd-.}" 2>&28 || :
OLDPWD=${_unhack_old-}
\builtin unset -v _unhack_text _unhack_pwd _unhack_old
\builtin trap -- "$2" EXIT && \builtin set -- && \builtin eval : && \builtin printf "+\0" >&29 ||
\builtin exit 1
} 28>&2 2>/dev/null"""
# In a process of its own, so that nothing of it changes the shell, its exit code or its output.
_SAVE = r"""{ (
\builtin trap - EXIT DEBUG ERR RETURN
_unhack_set=$(\builtin set +o)
_unhack_shopt=$(\builtin shopt -p)
_unhack_ifs=$(\builtin declare -p IFS || \builtin echo "unset IFS")
\builtin set +efux +o posix
\builtin shopt -u nocasematch nullglob failglob
IFS=$' \t\n'
for _unhack_name in $(\builtin compgen -v); do case $_unhack_name in
_unhack*|_|BASH*|COMP_*|DIRSTACK|EPOCH*|EUID|FUNCNAME|GROUPS|HISTCMD|IFS|LINENO|OLDPWD) ;;
PIPESTATUS|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID) ;;
*) _unhack_names+=("$_unhack_name");;
esac; done
(( ${#_unhack_names[@]} < 5000 )) || \builtin exit 1
\builtin printf "%s\n" "$_unhack_shopt"
\builtin umask -p
\builtin declare -p "${_unhack_names[@]}"
\builtin declare -f
\builtin declare -F
\builtin printf "%s\n" "$_unhack_ifs"
\builtin alias -p
\builtin printf "%s\n" "$_unhack_set"
\builtin printf "_unhack_old=%q _unhack_pwd=%q\n\0" "${OLDPWD-}" "$(\builtin pwd)"
_unhack_names=(/proc/[0-9]*)
(( ${#_unhack_names[@]} > 3 )) && \builtin printf "&"
) >&29; } >/dev/null 2>&1"""
_RESTORED, _ENDS = b"+\0", b"\0"


@dataclass(frozen=True, slots=True)
class ShellEnd:
    """The state in which a command has left its shell.

    Example:

        result, after = await pool.run(state, in_lasting_shell(script, kept), limits=limits)
        kept = shell_end(result).kept or kept
    """

    resumed: bool
    """False where the command did not begin: the text before it cannot be read back."""
    kept: bytes | None
    """For the next command; None where it was not written down whole, or is too large."""
    left_processes: bool
    """True where other processes still ran, which ended with the command."""


def in_lasting_shell(script: str, kept: bytes) -> Command:
    """The command of a shell script that goes on from `kept`, which is empty for a new shell."""
    argv = ("bash", "-c", _SCRIPT.format(shlex.quote(script)), "bash", _RESTORE, _SAVE)
    return Command(argv, stdin=kept, stdin_writable=True)


def shell_end(result: CommandResult) -> ShellEnd:
    """The end of such a command."""
    text, ends, rest = result.appended.removeprefix(_RESTORED).partition(_ENDS)
    resumed = result.appended.startswith(_RESTORED)
    whole = resumed and bool(ends) and len(text) <= MAX_STDIN
    return ShellEnd(resumed, text if whole else None, rest.startswith(b"&"))
