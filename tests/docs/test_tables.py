"""What the pages list is what the code has."""

import dataclasses
import re
from xml.etree import ElementTree

import pytest
import typer.main
from pages import ROOT, TOP, blocks_of, page_paths
from tests.quality.source_roots import source_roots

import unhack
import unhack.audit
from unhack.cli.app import app
from unhack.core.completion import Extraction
from unhack.core.group import ESTIMATORS
from unhack.core.verdict import Seal, Status, Verdict
from unhack.sandbox.guest.server import fork_server
from unhack.sandbox.job import Isolation
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux import seccomp
from unhack.sandbox.pool import worker_start
from unhack.tasks.settings import OPTIONS, LimitsTable, TaskKind, TaskSettings
from unhack.verifiers.answers.final_answer import Marker
from unhack.verifiers.stdio import StdioCompare
from unhack.verifiers.text import AnswerCheck
from unhack.verifiers.values.compare import Compare


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands under a heading, its subheadings included."""
    level = heading.split(" ", maxsplit=1)[0]
    _, _, rest = text.partition(f"\n{heading}\n")
    assert rest, f"no heading {heading!r}"
    return re.split(rf"\n#{{1,{len(level)}}} ", rest)[0]


def first_cells(text: str) -> list[str]:
    """The words in backticks of the first column of the tables in a text."""
    cells = re.findall(r"^\| (`[^|]*?) \|", text, re.MULTILINE)
    return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]


def test_the_statuses_and_seals_are_those_of_the_code():
    text = page("reference/verdicts.md")
    assert first_cells(section(text, "## Status")) == [status.value for status in Status]
    assert first_cells(section(text, "## Seal")) == [seal.value for seal in Seal]


def test_every_field_of_a_verdict_is_listed():
    fields = {field.name for field in dataclasses.fields(Verdict)}
    assert set(first_cells(section(page("reference/verdicts.md"), "## Fields"))) == fields


def test_the_limits_and_their_defaults_are_those_of_the_code():
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+|inf) \|", page("reference/limits.md"), re.MULTILINE)
    assert rows == [(item.name, str(item.default)) for item in dataclasses.fields(Limits)]
    assert f"`{fork_server.MAX_RUNNING} *" in page("reference/limits.md")


def test_the_isolation_levels_are_those_of_the_code():
    header = page("reference/isolation.md").split("\n| | ")[1].split("\n")[0]
    assert set(re.findall(r"`(\w+)`", header)) == {level.value for level in Isolation}


def test_the_environment_is_named_in_full():
    text = page("reference/isolation.md").replace("\n", " ")
    listed = re.search(r"same eight variables: (.*?)\.", text)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == set(worker_start.ENVIRON)


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("## Function jobs", seccomp.FUNCTION),
        ("## Added for scratch jobs", seccomp.SCRATCH),
        ("## Added for program jobs", seccomp.PROGRAM),
    ],
)
def test_the_lists_of_system_calls_are_those_of_the_filter(heading, names):
    text = section(page("reference/system-calls.md"), heading)
    [block] = [block for block in blocks_of(text) if block.language == "text"]
    assert block.text.split() == sorted(names)


def test_no_call_that_is_said_to_be_ruled_out_is_allowed():
    text = page("reference/system-calls.md")
    named = re.findall(r"`(\w+)`", section(text, "## What that rules out"))
    allowed = {*seccomp.FUNCTION, *seccomp.SCRATCH, *seccomp.PROGRAM} - set(seccomp.JOB_DENIES)
    assert len(named) > 30
    assert sorted(allowed & set(named)) == []


def test_the_calls_of_the_second_filter_are_named():
    text = section(page("reference/system-calls.md"), "## Added for scratch jobs")
    for name in seccomp.JOB_DENIES:
        assert f"`{name}`" in text


def test_the_estimators_are_those_of_the_code():
    assert first_cells(page("reference/estimators.md"))[: len(ESTIMATORS)] == list(ESTIMATORS)


def test_the_comparison_rules_are_those_of_the_code():
    text = page("reference/comparisons.md")
    for heading, values in (
        ("## Function tasks", Compare),
        ("## Stdio tasks", StdioCompare),
        ("## Text tasks", AnswerCheck),
    ):
        listed = [word for word in first_cells(section(text, heading)) if word != "compare"]
        assert [word for word in listed if word != "check"] == [value.value for value in values]


def test_the_extraction_rules_are_those_of_the_code():
    text = page("reference/extraction.md")
    listed = first_cells(section(text, "## Code"))
    assert [word for word in listed if word != "extraction"] == [how.value for how in Extraction]
    assert first_cells(section(text, "## Final answers")) == [item.value for item in Marker]


def test_every_key_of_a_task_file_is_described_and_no_other():
    text = page("reference/task-format.md")
    for kind in TaskKind:
        listed = first_cells(section(text, f"### `[verifier]` of kind `{kind.value}`"))
        assert sorted(word for word in listed if word != "key") == sorted(
            OPTIONS[kind].model_fields
        )
    example = section(text, "## task.toml")
    for key in set(TaskSettings.model_fields) - {"prompt", "verifier", "limits"}:
        assert f"\n{key} = " in example
    assert set(LimitsTable.model_fields) == {item.name for item in dataclasses.fields(Limits)}


def commands(group, prefix="unhack"):
    """(name, command) of every command, from the outermost group down."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix} {name}")
        if getattr(command, "invoke_without_command", True):
            yield f"{prefix} {name}", command


def test_every_command_and_option_is_described_and_no_other():
    text = page("reference/cli.md")
    found = dict(commands(typer.main.get_command(app)))
    options = {opt for command in found.values() for item in command.params for opt in item.opts}
    options = {opt for opt in options if opt.startswith("--")}
    listed = {word.split()[0] for word in first_cells(text) if word.startswith("--")}
    assert listed == options - {"--help"}
    for name in found:
        assert name in text


def test_every_public_name_is_in_the_api_reference():
    folder = ROOT / "docs/reference/api"
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md")))
    names = {*unhack.__all__, *unhack.audit.__all__}
    assert len(names) > 20
    for name in names:
        assert re.search(rf"^::: unhack\.\S+\.{name}$", text, re.MULTILINE), name


def test_the_files_that_the_repository_pages_name_exist():
    assert TOP
    for name in TOP:
        text = (ROOT / name).read_text(encoding="utf-8")
        named = re.findall(r"`((?:[\w.-]+/)+[\w.-]*\.(?:py|md|toml|json|svg))`", text)
        named += re.findall(r"\]\(((?!https?:|#)[^)#]+)", text)
        absent = [
            path
            for path in named
            if not any((ROOT / top / path).exists() for top in ("", "src/unhack"))
        ]
        assert absent == [], name


def test_the_pictures_of_the_readme_are_there_small_and_for_dark_pages_too():
    pictures = re.findall(r'<img src="([^"]+)"', (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(pictures) == 5
    for name in pictures:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert len(text.encode()) <= 30_000
        assert "prefers-color-scheme: dark" in text
        assert ElementTree.fromstring(text).tag.endswith("svg")


def test_no_page_names_a_path_of_one_machine():
    paths = [*page_paths()]
    assert paths
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/(?:home|root|work)/\w", text), path.name


def test_every_name_of_the_api_pages_is_there() -> None:
    wanted = [
        name
        for page in sorted((ROOT / "docs" / "reference" / "api").glob("*.md"))
        for name in re.findall(r"^::: (unhack[\w.]+)", page.read_text(), re.MULTILINE)
    ]
    assert len(wanted) > 50
    missing = [name for name in wanted if not _is_defined(name)]
    assert missing == []


def _is_defined(dotted: str) -> bool:
    """Tell whether a module, or a name of it, stands in the source; nothing is imported."""
    top, *rest = dotted.split(".")
    path = next(root for root in source_roots() if root.name == top)
    while rest and (path / rest[0]).is_dir():
        path /= rest.pop(0)
    if not rest:
        return (path / "__init__.py").is_file()
    if (path / f"{rest[0]}.py").is_file():
        path /= f"{rest.pop(0)}.py"
    else:
        path /= "__init__.py"
    if not rest:
        return True
    name, text = rest[0], path.read_text()
    forms = (
        rf"^(?:async )?(?:class|def) {name}\b",
        rf'^ *"?{name}"?\s*[:=,]',
        rf"import .*\b{name}\b",
    )
    return any(re.search(form, text, re.MULTILINE) for form in forms)
