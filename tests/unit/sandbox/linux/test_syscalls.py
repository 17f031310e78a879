from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from unhack.sandbox.linux import syscalls

ARCHITECTURES = sorted(syscalls.TABLES)
HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}


class TestTables:
    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_numbers_agree_with_the_headers_of_the_kernel(self, arch: str) -> None:
        header = Path(HEADERS[arch])
        if not header.exists():
            pytest.skip(f"{header} is not installed")
        text = header.read_text()
        found = {
            name: int(number)
            for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", text)
        }
        if arch == "aarch64":
            found["newfstatat"] = found.pop("fstatat", 79)
        compared = set(found) & set(syscalls.TABLES[arch])
        assert len(compared) > 150
        for name in compared:
            assert syscalls.TABLES[arch][name] == found[name], name

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_no_two_names_share_a_number(self, arch: str) -> None:
        table = syscalls.TABLES[arch]
        assert len(set(table.values())) == len(table)


class TestMachine:
    def test_the_machine_is_the_one_that_the_kernel_names(self) -> None:
        assert syscalls.machine() == os.uname().machine

    @pytest.mark.parametrize(("arch", "word"), [("x86_64", 62), ("aarch64", 183)])
    def test_audit_words_are_the_elf_machine_64_bit_and_little_endian(
        self, arch: str, word: int
    ) -> None:
        assert syscalls.AUDIT_ARCH[arch] == 0xC0000000 | word
