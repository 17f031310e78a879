"""`ImageRoot`: the root directory of an image, as commands and states see it.

Covered: its layers, its tree with content hashes, and what its configuration says of a command.
Not covered: where it comes from (`sandbox.images`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from unhack.sandbox.workspace.tree import Folder


@dataclass(frozen=True, slots=True)
class ImageRoot:
    """An unpacked image.

    Example:

        root = ImageStore().load("beagle")
        async with CommandPool(image=root) as pool:
            result, after = await pool.run(pool.states.untouched(), shell("id"), limits=Limits())
    """

    id: str
    """The digest of its layers and settings, in hexadecimal."""
    folders: tuple[str, ...] = field(repr=False)
    """Its layers on the host, the lowest first."""
    tree: Folder = field(repr=False)
    """Everything in it, from its root directory on."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    workdir: str = "/"
    """Absolute path in which commands start."""
    user: tuple[int, int, tuple[int, ...]] = (0, 0, ())
    """uid, gid and further groups of commands."""
    home: str = "/root"
    """Home directory of that user."""
    first_id: int = 0
    """uid and gid, seen from the host, of what belongs to root in the image."""
    ids: int = 1
    """Number of uids and gids in the image that are kept apart; with 1, all belongs to root."""
