"""Repositories: changed files onto a fresh base, judged by tests that the policy never holds.

`verifier` judges; `files` packs and checks what is handed in; `twins` and `expectations` make the
tests with changed expectations of the mode that runs in one process.
"""

from unhack.verifiers.repository.files import pack_files
from unhack.verifiers.repository.verifier import RepositoryVerifier

__all__ = ["RepositoryVerifier", "pack_files"]
