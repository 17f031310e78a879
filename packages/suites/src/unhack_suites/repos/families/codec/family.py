"""Codecs: numbers and values as bytes, frames with check sums, a pipeline of stages."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick

_TEXTS = ["sensor", "north", "été", "12.5", "ok", "fault", "grün", "tank"]


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="CodeError FormatError CodecError", pack="pack encode_all dump_records",
        unpack="unpack decode_all load_records", checksum="checksum check_sum digest",
        runs="runs repeats rle", steps="steps deltas differences", flip="flip swap pairs",
        encode="encode forward compress", decode="decode backward expand",
        add="plus then with_stage", best="best shortest smallest",
        lenient="lenient tolerant skip_damaged", modulus="241 239 251", version="3 5 7",
        longest="15 31 63", source="sensors meters buoys",
    )  # fmt: skip
    marks = rng.sample(range(1, 60), 7)
    for name, mark in zip(
        ("none", "number", "text", "list", "yes", "no", "mapping"), marks, strict=True
    ):
        words[f"mark_{name}"] = str(mark)
    words["package"] = draw_name(rng, "codec bytes frame wire")
    words["summary"] = f"Packs records of {words['source']} into bytes and back."
    words["purpose"] = f"to store what {words['source']} send"
    return words


def _record(rng: Random) -> list[object]:
    return [
        rng.choice(_TEXTS), rng.randrange(-70_000, 70_000), rng.choice((None, True, False)),
        [rng.randrange(200) for _ in range(rng.randrange(1, 4))],
    ]  # fmt: skip


def _records(rng: Random, w: Words) -> Cases:
    one, two = _record(rng), _record(rng)
    n = rng.randrange(64, 9000)
    at = rng.randrange(3, 6)
    case = Topic("records").case
    yield case(
        "records_become_bytes", f"`{w.pack}` gives a version and a frame for each record.",
        f"? {w.pack}([{one}])", f"? {w.pack}([{n}, '{rng.choice(_TEXTS)}'])",
        f"? {w.pack}([[], True, False, None, {n % 60}])",
    )  # fmt: skip
    yield case(
        "records_come_back", f"`{w.unpack}` gives back what was packed.",
        f"? {w.unpack}({w.pack}([{one}, {two}]))",
        f"? {w.unpack}({w.pack}([-{n}, {n}, 0, -1, {n * 1000}]))", f"? {w.unpack}({w.pack}([]))",
    )  # fmt: skip
    yield case(
        "numbers_take_few_bytes", "Numbers near 0 take fewer bytes, negative ones too.",
        f"? [len({w.pack}([number])) for number in (0, 63, 64, -64, -65, {n}, -{n * 300})]",
        f"? {w.pack}([-{n % 64 + 1}])[-1:]", f"? {w.pack}([{n}])[-2:]",
    )  # fmt: skip
    yield case(
        "damage_is_noticed", "Changed, lost and added bytes raise `Damaged`.",
        f"data = {w.pack}([{one}])", f"? {w.unpack}(data[:-1])",
        f"? {w.unpack}(data[:{at}] + bytes([data[{at}] ^ {n % 100 + 1}]) + data[{at + 1}:])",
        f"? {w.unpack}(bytes([{n % 100 + 100}]) + data[1:])", f"? {w.unpack}(data + data[1:{at}])",
        f"? {w.unpack}(b'')", f"? {w.unpack}(data + data[1:])",
    )  # fmt: skip
    yield case(
        "other_values_have_no_code", f"Values of other kinds raise `{w.Error}`.",
        f"? {w.pack}([{n}.5])", f"? {w.pack}([[{n}, ('a',)]])",
        f"? {w.pack}([b'{rng.choice('abc')}'])",
    )  # fmt: skip
    word = rng.choice(_TEXTS)
    yield case(
        "sums_notice_the_order", "The check sum notices other bytes and another order.",
        f"? {w.checksum}({word.encode()!r})", f"? {w.checksum}({word.encode()[::-1]!r})",
        f"? {w.checksum}(bytes([{n % 256}] * {at + 20}))", f"? {w.checksum}(b'{n}', start={at})",
        f"? {w.checksum}(b'')",
    )  # fmt: skip


def _stages(rng: Random, w: Words) -> Cases:
    a, b = rng.sample(range(40, 250), 2)
    longest = int(w.longest)
    n = rng.randrange(2, 9)
    case = Topic("stages").case

    def line(name: str, data: str) -> str:
        return f"? list(Pipeline('{name}').{w.encode}(bytes({data})))"

    yield case(
        f"{w.runs}_count_equal_bytes", f"`{w.runs}` writes a count, at most {longest}, and a byte.",
        line(w.runs, f"[{a}] * {n} + [{b}, {a}]"), line(w.runs, f"[{b}] * {longest + n}"),
        line(w.runs, f"[{a}] * {longest}"), line(w.runs, "[]"),
    )  # fmt: skip
    yield case(
        f"{w.steps}_are_taken_from_the_byte_before", f"`{w.steps}` writes differences, modulo 256.",
        line(w.steps, f"[{a}, {b}, {b}, {n}]"), line(w.steps, f"range({n}, {n * 3}, {n})"),
        f"? list(Pipeline('{w.steps}').{w.decode}(bytes([{a}, {b}, {n}, 255])))",
    )  # fmt: skip
    yield case(
        f"{w.flip}_exchanges_neighbours",
        f"`{w.flip}` exchanges the bytes of each pair; an odd one stays.",
        line(w.flip, f"[{a}, {b}, {n}]"), line(w.flip, f"[{n}, {a}, {a}, {b}]"),
        f"? Pipeline('{w.flip}').{w.decode}(b'{a}{b}')",
    )  # fmt: skip
    yield case(
        "decoding_runs_backwards", "Decoding goes through the stages from the last to the first.",
        f"line = Pipeline('{w.steps}', '{w.flip}', '{w.runs}')",
        f"data = bytes([{a}] * {n} + [{b}, {n}, {n + 1}, {n + 2}])",
        f"? list(line.{w.encode}(data))", f"? list(line.{w.decode}(line.{w.encode}(data)))",
        f"? list(Pipeline('{w.runs}', '{w.steps}').{w.decode}(Pipeline('{w.runs}', "
        f"'{w.steps}').{w.encode}(data)))",
    )  # fmt: skip
    yield case(
        "stages_are_added_at_the_end",
        f"`{w.add}` gives another pipeline; unknown stages raise `{w.Error}`.",
        f"line = Pipeline('{w.flip}')", f"longer = line.{w.add}('{w.runs}')",
        f"? list(longer.{w.encode}(bytes([{a}, {b}])))",
        f"? list(line.{w.encode}(bytes([{a}, {b}])))", f"? line.{w.add}('{w.runs}{n}')",
        f"? Pipeline('{w.steps}', 'x{a}')",
    )  # fmt: skip
    yield case(
        f"damaged_{w.runs}_are_refused",
        "Runs without length, above the longest, or cut in half raise `Damaged`.",
        f"line = Pipeline('{w.runs}')", f"? line.{w.decode}(bytes([{n}]))",
        f"? line.{w.decode}(bytes([0, {a}]))", f"? line.{w.decode}(bytes([{longest + 1}, {b}]))",
        f"? list(line.{w.decode}(bytes([{n}, {b}, 1, {a}])))",
    )  # fmt: skip


def _features(rng: Random, w: Words) -> Cases:
    one, two, three = _record(rng), _record(rng), _record(rng)
    n, a = rng.randrange(3, 9), rng.randrange(40, 250)
    keys = rng.sample(_TEXTS, 3)
    mapping = {key: rng.randrange(-500, 500) for key in keys}
    yield Topic("mappings", needs="mappings").case(
        "dictionaries_are_packed_by_key", "Dictionaries are packed with their keys in order.",
        f"? {w.unpack}({w.pack}([{mapping}]))",
        f"? {w.pack}([{mapping}]) == {w.pack}([{dict(reversed(mapping.items()))}])",
        f"? {w.pack}([{{}}])[-2:]", f"? len({w.pack}([{{'{keys[0]}': [{n}, None]}}]))",
        f"? {w.unpack}({w.pack}([[{{'{keys[1]}': {{'a': {a}}}}}]]))",
        f"? {w.pack}([{mapping}])[-{n}:]",
    )  # fmt: skip
    yield Topic("lenient", needs="lenient").case(
        "damaged_frames_may_be_left_out",
        f"With `{w.lenient}`, frames with another check sum are left out.",
        f"first, second, third = {one}, {two}, 0", f"third = {three}",
        f"data = {w.pack}([first, second, third])", f"cut = len({w.pack}([first]))",
        f"broken = data[: cut + {n}] + bytes([data[cut + {n}] ^ {a}]) + data[cut + {n + 1} :]",
        f"? {w.unpack}(broken, {w.lenient}=True)", f"? {w.unpack}(data[:-1], True)",
        f"? {w.unpack}(broken)", f"? {w.unpack}(data, {w.lenient}=True)",
    )  # fmt: skip
    yield Topic("choice", needs="best").case(
        "the_shortest_form_is_found",
        f"`{w.best}` names the first stages after which the bytes are the fewest.",
        f"line = Pipeline('{w.steps}', '{w.runs}', '{w.flip}')",
        f"? line.{w.best}(bytes(range({a % 20}, {a % 20 + n * 2})))",
        f"? line.{w.best}(bytes([{a}, {n}]))",
        f"? Pipeline('{w.runs}', '{w.runs}').{w.best}(bytes([{a}] * {n + 2}))",
        f"? line.{w.best}(b'')",
    )  # fmt: skip


FAMILY = PackageFamily(
    "codec", Path(__file__).parent, _words, (_records, _stages, _features),
    (
        Feature(
            "mappings", "dictionaries",
            "Records should be allowed to be, or to hold, dictionaries. Their code is the mark "
            "$mark_mapping, the number of pairs, and then key and value of every pair, written "
            "like "
            "any other value. Pairs are sorted by key, so that equal dictionaries give equal "
            "bytes. `$unpack` gives them back.",
        ),
        Feature(
            "lenient", "reading damaged files",
            "After a power cut a file may hold a broken frame, and we would like to read the "
            "rest. "
            "Please give `$unpack` an argument `$lenient=False`. When it is true, a frame that is "
            "cut off or whose content does not have its check sum is left out, and reading goes "
            "on "
            "behind it. Everything else that is damaged still raises `Damaged`.",
        ),
        Feature(
            "best", "the best number of stages",
            "Please add `Pipeline.$best(data)`. It gives the list of the names of the first "
            "stages "
            "of the pipeline after which the bytes are the fewest; where several numbers of "
            "stages "
            "are equally good, the smallest one. When no stage makes the bytes fewer, the list is "
            "empty.",
        ),
    ),
)  # fmt: skip
