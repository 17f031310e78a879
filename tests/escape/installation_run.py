"""Looks from every kind of job for a package of this environment and for files beside it, and
prints name -> [the package is found, files beside it that can be seen] as JSON.

Run with the name of a package, and with the word that every file beside has in its name.
"""

from __future__ import annotations

import asyncio
import json
import sys

import hidden_contents_run as look

from unhack.sandbox.job import Kind, Profile, Role
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command

LOOK = '''
import os

def f():
    """Whether the package is found, and the files that have the word in their names."""
    try:
        import PACKAGE.late, decimal, encodings.idna
        found = 1
    except ImportError as error:
        found = str(error)
    seen = [
        os.path.join(folder, name)
        for folder, inner, names in os.walk("/")
        for name in (*inner, *names)
        if "WORD" in name
    ]
    return [found, seen]
'''


def main(package: str, word: str) -> None:
    """Print what is seen from each kind."""
    look.LOOK = LOOK.replace("PACKAGE", package).replace("WORD", word)
    look.PRINTED = look.LOOK + "\nimport json\nprint(json.dumps(f()))\n"
    seen: dict[str, list[object]] = {}
    for kind in Kind:
        shown = Profile(kind=kind, preload=(package,))
        whole = Profile(kind=kind, role=Role.JUDGE, preload=(package,), site_packages=True)
        seen |= {f"{kind}": look.job(shown), f"{kind} judge": look.job(whole)}
    seen["command"] = asyncio.run(_command(package))
    print(json.dumps(seen))


async def _command(package: str) -> list[object]:
    async with CommandPool(slots=1, preload=(package,)) as pool:
        state = pool.states.load({"look.py": look.PRINTED.encode()})
        result, _ = await pool.run(state, Command(("python3", "look.py")), limits=look.LIMITS)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
