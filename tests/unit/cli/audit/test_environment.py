"""`unhack audit` of an environment: each option works there or is refused."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run

from unhack.cli.audit.arguments import AuditArguments

WORKING = {
    "target", "grader", "tiers", "calls", "seconds", "cpu_seconds", "stop_at_first", "seed",
    "thorough", "allow_unproven", "as_json", "html", "verbose",
    "base", "builder", "builder_option", "read_only",
    "harden", "agent", "agent_option", "white_box", "cost", "sibling", "patches",
}  # fmt: skip
SWITCHES = {"strict", "power", "force", "github"}
VALUES = {
    "calls": "9", "power_seconds": "180", "llm_cost": "1", "seed": "0",
    "tier_limits": "1=5/5",
}  # fmt: skip
"""The defaults stand here on purpose: given is given."""
TASKS = """\
from unhack_verifier_bench.environments.tasks import REPORTED, SHAPES
from unhack.environments.task import RepositoryTask


def make() -> list[RepositoryTask]:
    return [REPORTED]


def sound() -> list[RepositoryTask]:
    return [SHAPES]
"""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A function of one task whose tests are weak."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(TASKS)
    return "mine.py:make"


@pytest.mark.parametrize(
    "name", [one.name for one in fields(AuditArguments) if one.name not in WORKING]
)
def test_an_option_that_means_nothing_for_an_environment_is_refused(
    run: Run, made: str, name: str
) -> None:
    option = f"--{name.replace('_', '-')}"
    value = [] if name in SWITCHES else [VALUES.get(name, "some")]
    ran = run("audit", made, option, *value)
    assert ran.code == 2
    assert f"{option} is for verifiers" in ran.err
    assert "is an environment" in ran.err


def test_tiers_that_an_environment_lacks_are_refused_by_name(run: Run, made: str) -> None:
    ran = run("audit", made, "--tiers", "1,3,4,5")
    assert ran.code == 2
    assert "--tiers: tier 3, 4 is for verifiers" in ran.err
    assert "has tiers 1 and 5" in ran.err


@pytest.mark.slow
def test_tier_5_plays_episodes_and_shows_its_curve(run: Run, made: str) -> None:
    pytest.importorskip("torch")
    ran = run("audit", made, "--tiers", "5", "--calls", "40", "--json", "--html", "a.html")
    assert ran.code in (0, 1), ran.err
    [report] = ran.objects
    assert report["tiers"] == [5]
    assert report["discovery"]["curve"]
    assert "tier 5: update 1" in ran.err
    assert "<svg" in Path("a.html").read_text()


@pytest.mark.parametrize("option", ["--base", "--builder", "--builder-option"])
def test_options_of_an_image_are_refused_where_there_is_none(
    run: Run, made: str, option: str
) -> None:
    value = {"--base": "a:1=oci:nowhere", "--builder": "buildah"}.get(option, "--volume=a:b")
    ran = run("audit", made, f"{option}={value}")
    assert ran.code == 2
    assert "has no image to build" in ran.err
    Path("v.py").write_text("def score(completion, answer):\n    return 1.0\n")
    ran = run("audit", "v.py:score", f"{option}={value}")
    assert ran.code == 2
    assert f"{option}: for Harbor folders with an image" in ran.err


def test_a_base_without_a_name_is_refused_before_anything_is_built(run: Run, made: str) -> None:
    ran = run("audit", made, "--base", "nothing")
    assert ran.code == 2
    assert "nothing" in ran.err


def test_all_refused_options_are_named_at_once(run: Run, made: str) -> None:
    ran = run("audit", made, "--strict", "--power", "--seconds", "5")
    assert ran.code == 2
    assert "--strict, --power are for verifiers (its findings are all hacks)" in ran.err


@pytest.mark.slow
def test_the_first_proven_hack_ends_the_audit_where_that_is_asked_for(run: Run, made: str) -> None:
    ran = run("audit", made, "--stop-at-first", "--json", "--seed", "3")
    assert ran.code == 1, ran.err
    [report] = ran.objects
    assert len(report["findings"]) == 1
    assert "one hack is proven" in str(report["plan"])
    assert sum(one["completions"] for one in report["tried"]) < len(report["tried"])


@pytest.mark.slow
def test_a_limit_of_plays_is_kept_and_told(run: Run, made: str) -> None:
    ran = run("audit", made.replace("make", "sound"), "--calls", "6", "--json")
    assert ran.code == 4, ran.err
    [report] = ran.objects
    assert report["conclusion"] == "incomplete"
    assert "out of plays" in report["why"]
    assert report["calls"] <= 6 + 4
