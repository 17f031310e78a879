"""What is read of a compiled kernel whose every byte a submission may have chosen."""

from __future__ import annotations

import contextlib
import struct
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unhack_contests.kernels.compilation import compiler, symbols


def _changed(code: bytes, place: int, value: int, *, size: int = 8) -> bytes:
    return code[:place] + value.to_bytes(size, "little") + code[place + size :]


@pytest.fixture(scope="module")
def elf() -> bytes:
    return compiler.compile_trusted("#include <math.h>\ndouble f(double x) { return exp(x); }")


@pytest.fixture(scope="module")
def table(elf: bytes) -> int:
    """Where the header of the dynamic symbols stands."""
    [first] = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    places = [first + size * index for index in range(count)]
    [found] = [place for place in places if struct.unpack_from("<I", elf, place + 4)[0] == 11]
    return found


class TestHostileFiles:
    """Any bytes are a table of symbols or a ValueError."""

    def test_both_kinds_of_names_are_found(self, elf: bytes) -> None:
        found = symbols.read(elf)
        assert ("exp" in found.imports, "f" in found.exports) == (True, True)
        assert not found.imports & found.exports

    @pytest.mark.slow
    @settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
    @given(data=st.data())
    def test_changed_bytes_raise_nothing_else(self, elf: bytes, table: int, data: Any) -> None:
        headers = st.one_of(
            st.integers(0, 63), st.integers(table, table + 63), st.integers(0, len(elf) - 1)
        )
        changes = st.lists(st.tuples(headers, st.integers(0, 2**64 - 1)), max_size=4)
        code = elf
        for place, value in data.draw(changes):
            code = _changed(code, place, value >> 8 * data.draw(st.integers(0, 7)))
        code = b"\x7fELF\x02\x01" + code[6 : data.draw(st.integers(0, len(code)))]
        started = time.process_time()
        with contextlib.suppress(ValueError):
            assert isinstance(symbols.read(code), symbols.Symbols)
        assert time.process_time() - started < 20

    def test_sections_without_end_are_given_up(self, elf: bytes) -> None:
        [first] = struct.unpack_from("<Q", elf, 40)
        # None in the file's header means as many as the first section says.
        code = _changed(_changed(elf, 60, 0, size=2), first + 32, 1 << 60) + bytes(1 << 20)
        with pytest.raises(ValueError, match="too many entries"):
            symbols.read(code)

    @pytest.mark.slow
    def test_symbols_without_end_are_given_up(self, elf: bytes, table: int) -> None:
        code = _changed(_changed(elf, table + 24, len(elf)), table + 32, 24 << 50) + bytes(1 << 20)
        with pytest.raises(ValueError, match="too many entries"):
            symbols.read(code)

    def test_a_table_whose_symbols_a_reader_would_step_over_is_broken(
        self, elf: bytes, table: int
    ) -> None:
        [size] = struct.unpack_from("<Q", elf, table + 32)
        code = _changed(_changed(elf, table + 56, 48), table + 32, size // 48 * 48)
        with pytest.raises(ValueError, match="broken"):
            symbols.read(code)

    @pytest.mark.parametrize("name", [b"ex\xc3\xa9\0", b"exp"])
    def test_a_name_that_is_no_text_or_has_no_end_is_broken(
        self, elf: bytes, table: int, name: bytes
    ) -> None:
        [start] = struct.unpack_from("<Q", elf, table + 24)
        [link] = struct.unpack_from("<I", elf, table + 40)
        [first] = struct.unpack_from("<Q", elf, 40)
        strings = first + 64 * link + 24
        [text] = struct.unpack_from("<Q", elf, strings)
        code = _changed(elf, start + 24, len(elf) - text, size=4) + name
        with pytest.raises(ValueError, match="no plain text"):
            symbols.read(code)
