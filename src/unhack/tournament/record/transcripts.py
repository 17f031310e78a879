"""The output of agents, read back from the folders of a tournament.

Covered: links in a transcript's folder are not followed, sizes are bounded.
Not covered: whether files were changed since; `kept_files` checks that.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unhack.sandbox.workspace.safe_files import open_top, read_file
from unhack.tournament.record.records import Transcript

_MOST_BYTES = 64 << 20
_OUTPUTS = ("stdout.jsonl", "log.txt")
"""Of command-line agents, and of embedded ones."""


def read_outputs(transcript: Transcript, run: Path) -> Iterator[tuple[str, bytes]]:
    """The output of an agent in each attempt, by the attempt's name. Raises OSError."""
    wanted = [name for name in sorted(transcript.files)
              if name.rsplit("/", maxsplit=1)[-1] in _OUTPUTS]  # fmt: skip
    with open_top(run / transcript.folder) as folder:
        for name in wanted:
            data = read_file(folder, name, max_bytes=_MOST_BYTES)
            if data is not None:
                yield name.rpartition("/")[0] or name, data
