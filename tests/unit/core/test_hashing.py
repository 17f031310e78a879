from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from unhack.core.hashing import content_hash

PARTS = st.lists(st.text(st.characters(exclude_categories=()), max_size=4), max_size=4)


class TestContentHash:
    @given(PARTS, PARTS)
    def test_two_lists_of_parts_share_a_hash_only_when_equal(
        self, left: list[str], right: list[str]
    ) -> None:
        assert (content_hash(*left) == content_hash(*right)) is (left == right)

    def test_moving_a_boundary_changes_the_hash(self) -> None:
        assert content_hash("ab", "c") != content_hash("a", "bc")
        assert content_hash("abc") != content_hash("abc", "")

    def test_it_is_sha256_over_length_prefixed_parts(self) -> None:
        data = (2).to_bytes(8, "little") + b"ab" + (1).to_bytes(8, "little") + b"c"
        assert content_hash("ab", b"c") == hashlib.sha256(data).hexdigest()

    def test_text_hashes_as_its_utf_8_bytes(self) -> None:
        assert content_hash("é") == content_hash("é".encode())
        assert content_hash("\ud800") != content_hash("?")
