"""Unified diffs: what diff writes is applied exactly, what does not fit changes nothing."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.environments.files.unified_diff import BadPatchError, apply_diff

BEFORE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"
LINES = st.lists(st.sampled_from(["a", "b", "c", "", " x", "\tdef f():"]), max_size=25)


def diff(before: str, after: str, path: str = "pkg/core.py", *, context: int = 3) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{path}",
        f"b/{path}",
        n=context,
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
                   for line in lines)  # fmt: skip


def applied(patch: str, files: dict[str, bytes]) -> dict[str, bytes | None]:
    return apply_diff(patch, files.get)


@given(LINES, LINES, st.booleans(), st.booleans(), st.integers(0, 3))
def test_a_diff_leads_from_one_text_to_the_other(
    one: list[str], two: list[str], ended: bool, also: bool, context: int
) -> None:
    before = "\n".join(one) + ("\n" if ended and one else "")
    after = "\n".join(two) + ("\n" if also and two else "")
    patch = diff(before, after, context=context)
    assert bool(patch) is (before != after)
    if patch and before:
        result = applied(patch, {"pkg/core.py": before.encode()})["pkg/core.py"]
        assert (result or b"").decode() == after


@pytest.mark.parametrize("prefix", ["a/ b/", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_prefixes_and_line_ends_are_taken_as_they_are(prefix: str, end: str) -> None:
    old, new = prefix.split(" ")
    patch = f"--- {old}x.py\n+++ {new}x.py\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    before = f"one{end}two{end}".encode()
    assert applied(patch, {"x.py": before}) == {"x.py": f"one{end}2{end}".encode()}


def test_several_files_new_ones_and_deleted_ones_go_together() -> None:
    patch = (
        "diff --git a/new.py b/new.py\nnew file mode 100644\nindex 0000000..e69de29\n"
        "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,2 @@\n+x = 1\n+y = 2\n"
        "diff --git a/old.py b/old.py\ndeleted file mode 100644\n"
        "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
        "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    )
    files = {"old.py": b"gone\n", "x.py": b"a\n"}
    expected = {"new.py": b"x = 1\ny = 2\n", "old.py": None, "x.py": b"b\n"}
    assert applied(patch, files) == expected


def test_lines_that_have_moved_are_found() -> None:
    patch = diff(BEFORE, BEFORE.replace("six", "6"))
    moved = "new\n" * 30 + BEFORE
    result = applied(patch, {"pkg/core.py": moved.encode()})["pkg/core.py"]
    assert result == moved.replace("six", "6").encode()


@pytest.mark.parametrize("counts", ["-1,99 +1,2", "-1 +1", "-3,2 +3,2"])
def test_wrong_counts_as_models_write_them_do_no_harm(counts: str) -> None:
    patch = f"--- a/x\n+++ b/x\n@@ {counts} @@\n one\n-two\n+2\n three\n"
    assert applied(patch, {"x": b"one\ntwo\nthree\n"}) == {"x": b"one\n2\nthree\n"}


def test_empty_context_lines_may_lack_their_space() -> None:
    patch = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n\n-two\n+2\n"
    assert applied(patch, {"x": b"one\n\ntwo\n"}) == {"x": b"one\n\n2\n"}


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ("no diff at all", "no unified diff"),
        ("--- a/x\n+++ b/x\n", "no unified diff"),
        ("@@ -1 +1 @@\n-a\n+b\n", "no file"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-zzz\n+b\n", "does not fit"),
        ("--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "is not there"),
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", "is there already"),
        ("--- a/x\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n", "renames"),
        ("diff --git a/x b/x\nGIT binary patch\nliteral 3\n", "not supported"),
        ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "leaves some"),
        ("--- a/bin\n+++ b/bin\n@@ -1 +1 @@\n-a\n+b\n", "no UTF-8"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(patch: str, words: str) -> None:
    with pytest.raises(BadPatchError, match=words):
        applied(patch, {"x": b"a\nb\n", "bin": b"\xff\xfe"})


def test_a_block_that_fits_at_two_places_equally_near_is_refused() -> None:
    patch = "--- a/x\n+++ b/x\n@@ -2 +2 @@\n-a\n+b\n"
    with pytest.raises(BadPatchError, match="does not fit"):
        applied(patch, {"x": b"a\nz\na\n"})


@given(st.lists(st.sampled_from("ab"), max_size=30), st.lists(st.sampled_from("ab"), min_size=1))
def test_a_moved_block_is_found_wherever_it_fits_nearest(lines: list[str], old: list[str]) -> None:
    """Against the plain search; the block stands nowhere that its line number could name."""
    fits = [at for at in range(len(lines)) if lines[at : at + len(old)] == old]
    patch = "--- a/f\n+++ b/f\n@@ -90 +90 @@\n" + "".join(f"-{line}\n" for line in old) + "+new\n"
    before = "".join(f"{line}\n" for line in lines).encode()
    at = fits[-1] if fits else 0
    wanted = "".join(f"{line}\n" for line in [*lines[:at], "new", *lines[at + len(old) :]])
    try:
        after = applied(patch, {"f": before})["f"]
    except BadPatchError:
        after = None
    assert after == (wanted.encode() if fits else None)


def test_blocks_that_stand_elsewhere_have_a_bound() -> None:
    """One line said again and again, and a block that nearly fits everywhere, a thousand times."""
    block = "@@ -9 +9 @@\n" + " a\n" * 500 + "-b\n+c\n" + "\n" * 500
    with pytest.raises(BadPatchError, match="too many blocks stand elsewhere"):
        applied("--- a/f\n+++ b/f\n" + block, {"f": b"a\n" * 10_000})


MAIL = """From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001
From: A <a@localhost>
Date: Sun, 1 Nov 2026 00:00:00 +0000
Subject: [PATCH 1/2] {subject}

It was time.
---
 a.txt | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

diff --git a/a.txt b/a.txt
index 0000001..0000002 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 one
-{old}
+{new}
--{blank}
2.39.5

"""


def test_mails_of_format_patch_are_patches() -> None:
    mails = MAIL.format(subject="b", old="two", new="three", blank=" ") + MAIL.format(
        subject="c", old="three", new="four", blank=" "
    )
    assert apply_diff(mails, {"a.txt": b"one\ntwo\n"}.get) == {"a.txt": b"one\nfour\n"}


def test_a_deleted_line_of_a_dash_and_a_blank_is_a_line() -> None:
    patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,1 @@\n one\n-- \n"
    assert apply_diff(patch, {"a.txt": b"one\n- \n"}.get) == {"a.txt": b"one\n"}


EMPTY = "diff --git a/p/__init__.py b/p/__init__.py\n{} file mode 100644\nindex e69de29..0000000\n"


def test_empty_files_are_made_and_deleted() -> None:
    assert apply_diff(EMPTY.format("new"), {}.get) == {"p/__init__.py": b""}
    there = {"p/__init__.py": b""}
    assert apply_diff(EMPTY.format("deleted"), there.get) == {"p/__init__.py": None}
    with pytest.raises(BadPatchError, match="is there already"):
        apply_diff(EMPTY.format("new"), there.get)


def test_an_empty_file_stands_beside_others() -> None:
    other = "diff --git a/q.py b/q.py\nnew file mode 100644\n--- /dev/null\n+++ b/q.py\n"
    other += "@@ -0,0 +1 @@\n+x\n"
    wanted = {"p/__init__.py": b"", "q.py": b"x\n"}
    assert apply_diff(EMPTY.format("new") + other, {}.get) == wanted
    assert apply_diff(other + EMPTY.format("new"), {}.get) == wanted
