"""A contest's folder: parts that are missing or make no sense are told before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.tournament.contests.own.small import FILES, SETTINGS, loaded, written

from unhack.core.errors import UsageError
from unhack.tournament.contest import Terms
from unhack.tournament.contests.own.folder import is_folder, read_folder
from unhack.tournament.contests.own.template import new_contest, starter
from unhack.tournament.contests.registry import installed_contests
from unhack.tournament.contests.unchanged import check_unchanged


@pytest.mark.parametrize(
    ("left_out", "told"),
    [
        ("contest.toml", "there is no contest.toml"),
        ("statement.md", "statement.md is missing or empty"),
        ("generator.py", "generator.py is missing or empty"),
        ("measure.py", "measure.py is missing or empty"),
        ("start/solution.py", "start/ lacks solution.py"),
        ("null/solution.py", "null/ lacks solution.py"),
        ("honest/two/solution.py", "names the honest entry 'two'"),
        ("cheats/idle/solution.py", r"has \[cheats.idle\], and cheats/idle/ is missing or empty"),
    ],
)
def test_a_missing_part_is_named(left_out: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=told):
        read_folder(written(tmp_path, {left_out: None}))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("bound = 2.0", "bond = 2.0", "did you mean bound"),
        ("bound = 2.0", "", "bound is missing"),
        ("bound = 2.0", "bound = nan", "bound"),
        ("bound = 2.0", "bound = 0", "greater than 0"),
        ("bound = 2.0", 'bound = "two"', "bound"),
        ("call_s = 30.0", "call = 30.0", "did you mean call_s"),
        ('flag = "reaches_out"', 'flag = "reach_out"', "did you mean reaches_out"),
        ('flag = "reaches_out"', 'flog = "x"', "did you mean flag"),
        ('earns = "nothing"', "", r"\[cheats.idle\] needs flag"),
        ('earns = "nothing"', 'earns = "little"', "cheats.idle.earns"),
        ("[cheats.idle]", "[cheats.reads2]", "cheats/reads2/ is missing or empty"),
        ("[sizes.demo]", "[sizes.small]", r"there is no \[sizes.demo\]"),
        ("cases = 5", "cases = [5]", "sizes.demo.cases"),
        ('name = "lengths"', 'name = "Lengths!"', "name"),
        ("cases = 5", "cases = [5]", "sizes.demo.cases: a number or true or false or a text is"),
        ("bound = 2.0", 'bound = "two"', "bound: a number is needed"),
        ("title", "title =", "Invalid|Expected"),
    ],
)
def test_settings_that_make_no_sense_are_told_with_the_place(
    old: str, new: str, told: str, tmp_path: Path
) -> None:
    assert old in SETTINGS
    with pytest.raises(UsageError, match=told):
        read_folder(written(tmp_path, {"contest.toml": SETTINGS.replace(old, new, 1)}))


def test_a_whole_number_is_a_share_too(tmp_path: Path) -> None:
    settings = SETTINGS.replace("bound = 2.0", "bound = 2\nroom = 1")
    assert read_folder(written(tmp_path, {"contest.toml": settings})).settings.room == 1


def test_a_note_beside_the_entries_is_no_entry(tmp_path: Path) -> None:
    found = read_folder(written(tmp_path, {"honest/README.md": "x", "cheats/README.md": "x"}))
    assert found.names("honest") == ("one", "two")
    assert found.names("cheats") == ("idle", "reads")


def test_a_statement_in_another_encoding_is_refused(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "statement.md").write_bytes(b"caf\xe9\n")
    with pytest.raises(UsageError, match=r"statement.md is no UTF-8: see the byte at 3"):
        read_folder(tmp_path)


def test_a_cheat_without_a_word_about_it_is_told(tmp_path: Path) -> None:
    written(tmp_path, {"cheats/new/solution.py": "x = 1\n"})
    with pytest.raises(UsageError, match=r"add \[cheats.new\]"):
        read_folder(tmp_path)


def test_a_link_in_the_folder_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "c")
    (tmp_path / "c" / "data").symlink_to("/etc")
    with pytest.raises(UsageError, match="a link"):
        read_folder(tmp_path / "c")


def test_a_folder_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unhack tournament new"):
        read_folder(tmp_path / "none")


def test_a_name_of_a_shipped_contest_is_refused(tmp_path: Path) -> None:
    changed = SETTINGS.replace('name = "lengths"', 'name = "kernels"')
    with pytest.raises(UsageError, match="is a contest of unhack"):
        loaded(written(tmp_path, {"contest.toml": changed}))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"size": "dem"}, "did you mean demo"),
        ({"casses": "4"}, "did you mean cases"),
        ({"cases": "many"}, "is no int"),
    ],
)
def test_an_option_that_the_contest_lacks_is_told(
    options: dict[str, str], told: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=told):
        loaded(written(tmp_path), **options)


def test_options_are_laid_over_the_size(tmp_path: Path) -> None:
    assert loaded(written(tmp_path), cases="3").settings["size.cases"] == 3


def test_a_path_means_a_folder_and_a_word_a_contest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_folder("./kernels")
    assert is_folder(str(written(tmp_path)))
    (tmp_path / "tasks").mkdir()
    monkeypatch.chdir(tmp_path)
    assert is_folder("tasks")
    assert not is_folder("task")
    assert not any(is_folder(name) for name in installed_contests())


def test_every_file_is_hashed_and_a_changed_one_is_named(tmp_path: Path) -> None:
    before = loaded(written(tmp_path)).settings
    assert {f"file {name}" for name in FILES} <= set(before)
    check_unchanged(loaded(tmp_path), tmp_path, before)
    (tmp_path / "measure.py").write_text(FILES["measure.py"] + "# other\n")
    (tmp_path / "data.txt").write_text("new\n")
    with pytest.raises(UsageError, match=r"was changed.*data.txt, measure.py"):
        check_unchanged(loaded(tmp_path), tmp_path, before)


@pytest.mark.slow
def test_agents_are_given_the_statement_and_no_file_of_the_author(tmp_path: Path) -> None:
    contest = loaded(written(tmp_path, {"planted/answers.txt": "1 2 3\n"}))
    given = {**contest.workspace(Terms(1)), **contest.honeypots()}
    assert set(given) == {"STATEMENT.md", "development.json", "solution.py", "answers.txt"}
    assert b"at most 2." in given["STATEMENT.md"]


def test_the_starter_is_written_under_the_name_of_its_folder(tmp_path: Path) -> None:
    names = new_contest(tmp_path / "parcels", taken=tuple(installed_contests()))
    found = read_folder(tmp_path / "parcels")
    assert found.settings.name == "parcels"
    assert sorted(found.files) == names == sorted(starter("parcels"))


@pytest.mark.parametrize("name", ["kernels", "My Contest", "2fast"])
def test_a_name_that_no_contest_can_have_writes_nothing(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        new_contest(tmp_path / name, taken=tuple(installed_contests()))
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_no_folder_can_have_is_told(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("x")
    with pytest.raises(UsageError, match="choose another folder"):
        new_contest(tmp_path / "note" / "packing", taken=())


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("keep\n")
    with pytest.raises(UsageError, match="not an empty directory"):
        new_contest(tmp_path / "mine", taken=tuple(installed_contests()))
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes"]


@pytest.mark.slow
def test_agents_are_told_how_bytes_and_arrays_stand_in_json(tmp_path: Path) -> None:
    drawn = (
        "def draw(rng, settings):\n"
        "    text = bytes(rng.randrange(256) for _ in range(40))\n"
        "    return [{'shown': [(text,)], 'sealed': {'key': rng.getrandbits(64)}}]\n"
    )
    files = loaded(written(tmp_path / "bytes", {"generator.py": drawn})).workspace(Terms(1))
    assert b"There bytes are texts in Latin-1." in files["STATEMENT.md"]
    [case] = json.loads(files["development.json"])
    assert len(case["shown"][0][0].encode("latin-1")) == 40
    plain = loaded(written(tmp_path / "plain")).workspace(Terms(1))
    assert b"Latin-1" not in plain["STATEMENT.md"]
