"""The harness reads a score as it is, whatever a completion did to the builtins."""

import builtins
import json
import math
from typing import Any

import pytest

from unhack.sandbox.guest.reward import scores


class TestReading:
    @pytest.mark.parametrize(
        ("value", "score"),
        [(0.5, 0.5), (True, 1.0), ({"score": 0}, 0.0), ({"passed": False}, 0.0), (2, None),
         ("1", None), (None, None), (math.nan, None), ({}, None)],
    )  # fmt: skip
    def test_a_score_is_a_number_from_0_to_1(self, value: Any, score: float | None) -> None:
        assert scores.read_score(value) == score

    def test_the_last_line_that_is_json_counts(self) -> None:
        assert scores.last_json('{"score": 1}\nlog\n {"score": 0} \nbye {\n') == {"score": 0}
        assert scores.last_json('[1] and more\n"x\n') is None
        assert scores.last_json("") is None

    @pytest.mark.parametrize("number", [0.25, -0.0, 1e308])
    def test_finite_numbers_cross_as_they_are(self, number: float) -> None:
        assert repr(scores.encode_float(number)) == repr(number)

    @pytest.mark.parametrize(("number", "tag"), [(math.inf, "inf"), (-math.inf, "-inf")])
    def test_infinities_cross_with_a_tag(self, number: float, tag: str) -> None:
        assert scores.encode_float(number) == {"$float": tag}
        assert scores.encode_float(math.nan) == {"$float": "nan"}


def test_replaced_builtins_do_not_change_what_is_read() -> None:
    def lie(*args: Any, **kwargs: Any) -> Any:
        return 1.0

    names = ("float", "isinstance", "len", "bool", "int", "reversed", "type", "str", "list")
    real = {name: getattr(builtins, name) for name in names}
    loads, decode, decoder = json.loads, json.JSONDecoder.decode, json.JSONDecoder
    builtins.__dict__.update(dict.fromkeys(names, lie))
    json.loads = decoder.decode = lie
    read = scores.read_score({"score": 0.0}), scores.read_value([0.0]), scores.encode_float(0.0)
    found = scores.last_json('{"score": 0.0}')
    builtins.__dict__.update(real)
    json.loads, decoder.decode = loads, decode
    assert read == (0.0, ("list of number", 0.0), 0.0)
    assert found == {"score": 0.0}
