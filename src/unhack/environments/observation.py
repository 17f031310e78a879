"""An observation: what an action showed the agent.

Covered: text for the policy, and the same as values; a refusal is an observation with a code; a
command's output and how it ended.
Not covered: rewards, which ride beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from unhack.sandbox.workspace.commands import CommandResult


class Refusal(StrEnum):
    """The reason why an action was not carried out.

    Example:

        result = await episode.step(("read", {"path": "/etc/passwd"}))
        result.observation.refusal is Refusal.BAD_PATH
    """

    BAD_ACTION = "bad_action"
    """It is no action, or its arguments are not those of one."""
    NOT_FOUND = "not_found"
    """The path is not there, or is no file or folder as wanted."""
    BAD_PATH = "bad_path"
    """The path leaves the workspace, or leads through something else than folders."""
    BAD_PATCH = "bad_patch"
    """The patch is no unified diff, or it or an edit does not fit the files."""
    TOO_LARGE = "too_large"
    """The workspace would hold more than it may."""
    ENDED = "ended"
    """The episode has ended."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The answer to one action.

    Example:

        result = await episode.step(("run", {"command": "pytest -q"}))
        result.observation.text, result.observation.exit_code
    """

    text: str
    """For the policy; bounded."""
    ok: bool = True
    """True when the action was carried out and, for a command, ended with exit code 0."""
    refusal: Refusal | None = None
    exit_code: int | None = None
    """Of a command that ended by itself."""
    signal: int | None = None
    """The signal that ended a command."""
    limit: str = ""
    """The limit that ended a command."""
    cut: int = 0
    """Bytes, lines or entries that are not shown."""

    def to_json(self) -> dict[str, Any]:
        """The observation as plain JSON values; what is absent is left out."""
        found: dict[str, Any] = {"text": self.text, "ok": self.ok}
        if self.refusal is not None:
            found["refusal"] = self.refusal.value
        for name in ("exit_code", "signal"):
            if getattr(self, name) is not None:
                found[name] = getattr(self, name)
        if self.limit:
            found["limit"] = self.limit
        if self.cut:
            found["cut"] = self.cut
        return found


def refused(code: Refusal, text: str) -> Observation:
    """The observation of an action that was not carried out."""
    return Observation(text, ok=False, refusal=code)


def of_command(result: CommandResult, *remarks: str) -> Observation:
    """The observation of a command: both streams, then how it ended, and remarks of ours."""
    parts = [part.rstrip("\n") for part in (result.stdout, result.stderr) if part.strip()]
    if result.limit:
        parts.append(f"[ended by the {result.limit} limit after {result.wall_s:.1f} s]")
    elif result.signal is not None:
        parts.append(f"[ended by signal {result.signal}]")
    else:
        parts.append(f"[exit code {result.exit_code}]")
    if result.left_out:
        names = ", ".join(result.left_out[:5])
        parts.append(f"[not kept, being no file, link or folder: {names}]")
    parts += [f"[{remark}]" for remark in remarks]
    return Observation(
        "\n".join(parts).encode(errors="replace").decode(),
        ok=result.ok,
        exit_code=result.exit_code,
        signal=result.signal,
        limit=result.limit,
        cut=result.cut_bytes,
    )
