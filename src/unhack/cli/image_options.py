"""The options by which an image is built: bases, the builder and what is passed on to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unhack.cli.options import opt

if TYPE_CHECKING:
    from unhack.sandbox.images.build import ImageBuilder


@dataclass(frozen=True, kw_only=True)
class ImageOptions:
    """Options of a command that builds images."""

    base: list[str] | None = opt(
        None,
        "IMAGE stands for NAME: ubuntu:24.04=oci:DIR; @FILE.json for many.",
        metavar="NAME=IMAGE",
    )
    builder: str = opt("", "buildah, podman or docker.", metavar="NAME")
    builder_option: list[str] | None = opt(
        None, "Passed on, such as --volume=FILE:FILE:ro.", metavar="OPTION"
    )

    def image_builder(
        self, *, images: Path | None = None, network: bool = True, cache_gib: float = 20.0
    ) -> ImageBuilder:
        """The builder that the options name, with the images of a folder. Raises UsageError."""
        from unhack.sandbox.images.build import ImageBuilder, base_map
        from unhack.sandbox.images.store import ImageStore

        return ImageBuilder(
            ImageStore(images), bases=base_map(self.base or ()), builder=self.builder,
            options=self.builder_option or (), network=network,
            cache_bytes=int(cache_gib * (1 << 30)),
        )  # fmt: skip
