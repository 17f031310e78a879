from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.completion import Extraction, extract_code, with_setup
from unhack.core.fences import fenced_blocks

CODE = st.text(st.sampled_from("ab`~ \tx=()\n'"), max_size=60).filter(str.strip)


def _longest_run(text: str, mark: str) -> int:
    return max((len(run) for run in re.findall(f"{re.escape(mark)}+", text)), default=0)


class TestFences:
    @given(CODE, st.sampled_from("`~"), st.integers(0, 3), st.sampled_from(["", "python", "py"]))
    def test_any_code_survives_a_fence_longer_than_what_it_holds(
        self, code: str, mark: str, extra: int, label: str
    ) -> None:
        fence = mark * (max(3, _longest_run(code, mark) + 1) + extra)
        text = f"Here it is:\n\n{fence}{label}\n{code}\n{fence}\nThat was it."
        [block] = fenced_blocks(text)
        assert (block.code, block.language, block.closed) == (f"{code}\n", label, True)
        assert extract_code(text) == f"{code}\n"

    @given(st.text())
    def test_any_text_can_be_searched(self, text: str) -> None:
        found = [extract_code(text, how=how) for how in Extraction]
        assert len(found) > 1
        assert all(code is None or code.strip() for code in found)

    @pytest.mark.slow
    @given(st.lists(CODE.filter(lambda code: "```" not in code), min_size=1, max_size=5))
    def test_blocks_come_in_the_order_of_the_text(self, codes: list[str]) -> None:
        text = "\nprose\n".join(f"```py\n{code}\n```" for code in codes)
        assert [block.code for block in fenced_blocks(text)] == [f"{code}\n" for code in codes]
        assert extract_code(text, how=Extraction.FIRST) == f"{codes[0]}\n"
        assert extract_code(text, how=Extraction.LAST) == f"{codes[-1]}\n"

    def test_a_longer_fence_holds_shorter_ones_as_text(self) -> None:
        text = "````python\nquote = '''\n```\ninside\n```\n'''\n````\n"
        assert extract_code(text) == "quote = '''\n```\ninside\n```\n'''\n"

    def test_a_tilde_fence_is_not_closed_by_backticks(self) -> None:
        assert extract_code("~~~python\na = 1\n```\nb = 2\n~~~\n") == "a = 1\n```\nb = 2\n"

    def test_a_closing_fence_may_be_longer_than_the_opening_one(self) -> None:
        [block] = fenced_blocks("```python\na = 1\n`````\nrest")
        assert (block.code, block.closed) == ("a = 1\n", True)

    def test_a_fence_with_a_label_does_not_close(self) -> None:
        [block] = fenced_blocks("```python\na = 1\n```python\nb = 2\n```\n")
        assert block.code == "a = 1\n```python\nb = 2\n"

    def test_the_last_fence_may_stay_open(self) -> None:
        [block] = fenced_blocks("text\n```python\na = 1\nb = 2")
        assert (block.code, block.closed) == ("a = 1\nb = 2\n", False)

    def test_an_open_last_fence_without_code_is_no_block(self) -> None:
        assert fenced_blocks("```python\na = 1\n```\n```python\n   \n")[-1].code == "a = 1\n"
        assert len(fenced_blocks("```python\na = 1\n```\n```python\n   \n")) == 1

    def test_windows_newlines_do_not_hide_fences(self) -> None:
        code = extract_code("Here:\r\n```python\r\nx = 1\r\ny = 2\r\n```\r\nbye\r\n")
        assert code is not None
        assert compile(code, "c", "exec")
        assert code.split() == ["x", "=", "1", "y", "=", "2"]

    @pytest.mark.parametrize("indent", ["", " ", "  ", "   "])
    def test_up_to_three_spaces_may_stand_before_a_fence(self, indent: str) -> None:
        assert extract_code(f"{indent}```python\nx = 1\n{indent}```\nend") == "x = 1\n"

    def test_four_spaces_make_a_fence_ordinary_text(self) -> None:
        text = "    ```python\n    x = 1\n    ```\n"
        assert fenced_blocks(text) == []

    def test_code_beneath_an_indented_fence_loses_that_indentation(self) -> None:
        text = "Use this:\n   ```python\n   def f():\n       return 1\n   ```\n"
        assert extract_code(text) == "def f():\n    return 1\n"

    def test_a_tab_makes_a_fence_ordinary_text(self) -> None:
        assert fenced_blocks("\t```python\n\tx = 1\n\t```\n") == []

    def test_the_label_of_a_tilde_fence_may_hold_backticks(self) -> None:
        assert extract_code("~~~ python `x`\nx = 1\n~~~\n") == "x = 1\n"

    def test_backticks_inside_a_line_open_nothing(self) -> None:
        assert fenced_blocks("use ```x = 1``` like this\n") == []
        assert fenced_blocks("```x = 1```\n") == []

    @pytest.mark.parametrize(
        ("info", "language", "name"),
        [
            ("python", "python", ""),
            ("PYTHON", "python", ""),
            (" python ", "python", ""),
            ("python solution.py", "python", "solution.py"),
            ("python  dir/my file.py ", "python", "dir/my file.py"),
            ("{.python}", "python", ""),
            ("c++ main.cpp", "c++", "main.cpp"),
            ("", "", ""),
        ],
    )
    def test_the_info_string_gives_language_and_name(
        self, info: str, language: str, name: str
    ) -> None:
        [block] = fenced_blocks(f"```{info}\nx\n```")
        assert (block.language, block.name) == (language, name)

    def test_a_tab_ends_the_language_too(self) -> None:
        [block] = fenced_blocks("```python\tsolution.py\nx\n```")
        assert (block.language, block.name) == ("python", "solution.py")


MIXED = (
    "```\nplain = 0\n```\n"
    "```bash\necho hi\n```\n"
    "```python\nfirst = 1\n```\n"
    "```py\nsecond = 2\n```\n"
    "```json\n{}\n```\n"
)


class TestChoice:
    def test_auto_takes_the_last_block_in_the_wanted_language(self) -> None:
        assert extract_code(MIXED) == "second = 2\n"

    def test_auto_takes_the_last_unlabelled_block_when_none_is_in_the_language(self) -> None:
        text = "```\na\n```\n```\nb\n```\n```bash\nc\n```\n"
        assert extract_code(text) == "b\n"

    def test_auto_takes_nothing_from_blocks_of_other_languages(self) -> None:
        assert extract_code("def f(): pass\n```bash\nls\n```\n") is None

    def test_auto_takes_a_text_without_fences_whole(self) -> None:
        assert extract_code("def f():\n    return 1\n") == "def f():\n    return 1\n"
        assert extract_code("a = '``` in a string'\n") == "a = '``` in a string'\n"

    def test_last_and_first_take_any_language(self) -> None:
        assert extract_code(MIXED, how=Extraction.LAST) == "{}\n"
        assert extract_code(MIXED, how=Extraction.FIRST) == "plain = 0\n"

    def test_joined_puts_the_blocks_of_the_language_in_order(self) -> None:
        assert extract_code(MIXED, how=Extraction.JOINED) == "first = 1\n\nsecond = 2\n"

    def test_raw_takes_the_text_untouched(self) -> None:
        assert extract_code(MIXED, how=Extraction.RAW) == MIXED

    @pytest.mark.parametrize("how", [Extraction.LAST, Extraction.FIRST, Extraction.JOINED])
    def test_a_text_without_fences_gives_these_nothing(self, how: Extraction) -> None:
        assert extract_code("x = 1", how=how) is None

    @pytest.mark.parametrize("how", list(Extraction))
    @pytest.mark.parametrize("text", ["", "   \n\t\n"])
    def test_a_blank_text_gives_nothing(self, text: str, how: Extraction) -> None:
        assert extract_code(text, how=how) is None

    def test_a_blank_block_is_passed_over(self) -> None:
        assert extract_code("```python\nx = 1\n```\n```python\n\n```\n") == "x = 1\n"
        assert extract_code("```python\n\n```\n") is None

    @pytest.mark.parametrize("label", ["python", "py", "python3", "py3", "Python", "pycon"])
    def test_python_has_these_names(self, label: str) -> None:
        assert extract_code(f"```{label}\nx = 1\n```\n```ruby\ny\n```") == "x = 1\n"

    @pytest.mark.parametrize(
        ("language", "label"), [("c", "c"), ("cpp", "cpp"), ("cpp", "c++"), ("cpp", "cc")]
    )
    def test_other_languages_are_chosen_by_their_labels(self, language: str, label: str) -> None:
        text = f"```{label}\nint x;\n```\n```python\nx = 1\n```\n"
        assert extract_code(text, language=language) == "int x;\n"

    def test_c_is_not_cpp(self) -> None:
        assert extract_code("```cpp\nint x;\n```\n", language="c") is None


class TestWithSetup:
    @pytest.mark.parametrize("setup", ["import math", "import math\n", ""])
    @pytest.mark.parametrize(
        "source",
        [
            "def f():\n    return __annotations__\nx: Missing = 1\n",
            "from __future__ import annotations\nx: Missing = 1\ndef f():\n    return 1\n",
            '"""Text."""\n\nfrom __future__ import annotations, division  # why\nx: Missing = 1\n',
        ],
    )
    def test_a_future_import_of_the_source_counts_for_the_whole(
        self, setup: str, source: str
    ) -> None:
        whole = with_setup(setup, source)
        names: dict[str, object] = {"Missing": int}
        exec(compile(whole, "<test>", "exec", dont_inherit=True), names)
        deferred = "annotations" in source.replace("__annotations__", "")
        assert names["__annotations__"] == {"x": "Missing" if deferred else int}
        assert ("math" in names) == bool(setup)
        assert whole.count("\n") <= source.count("\n") + 2
