"""No regular expression sees more of a candidate's text than a piece of one line: every one in the
source is a bounded one, or stands in a table with what keeps it short."""

from __future__ import annotations

from pathlib import Path

import pytest

from .patterns import KNOWN, patterns_in, patterns_of_host

pytestmark = pytest.mark.slow


def test_every_expression_is_bounded_or_named_with_what_keeps_it_short() -> None:
    found = patterns_of_host()
    new = {name: count for name, count in found.items() if count > KNOWN.get(name, (0, ""))[0]}
    assert new == {}, "make it a BoundedPattern, or say in patterns.py what keeps its text short"
    gone = {name for name, (count, _) in KNOWN.items() if found.get(name, 0) < count}
    assert gone == set(), "patterns.py names more than there are"


def test_a_new_expression_is_seen_however_it_is_imported(tmp_path: Path) -> None:
    assert patterns_in("import re\nre.compile('a')") == 1
    assert patterns_in("import re\nfind = re.search") == 1
    assert patterns_in("from re import sub") == 1
    assert patterns_in("import re as r") == 1
    assert patterns_in("import regex") == 1
    assert patterns_in("import re\nfrom os import path\nre.escape('a')") == 0
    (tmp_path / "audit").mkdir()
    for name in ("new.py", "audit/left_out.py"):
        (tmp_path / name).write_text("import re\nre.sub('a', 'b', text)\n")
    assert patterns_of_host(tmp_path) == {"new.py": 1}
