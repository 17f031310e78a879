"""Pages of jobs and of run folders: what they came to, how far they are, why they ended."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import typer
from starlette.testclient import TestClient
from tests.unit.audit.report_sample import FALSE_ACCEPT, HOSTILE, SOURCE, SUFFIX, report
from tests.unit.server.requests import BOTH
from tests.unit.tournament.hill import plan, played

from unhack.audit.report.wording import strict
from unhack.cli.app import app
from unhack.server.access.caller import Grant
from unhack.server.database.schema import jobs
from unhack.server.http.job_models import JobProgress
from unhack.server.jobs.job_work import JobWork
from unhack.server.pages.frame import ROOM
from unhack.server.pages.jobs import RUN
from unhack.server.service import Service
from unhack.tournament.record.records import TournamentRecord
from unhack.training.run.folder import METRICS, write_json
from unhack.training.run.folder import RUN as ABOUT

from .fill import caller_of, store_job, tournament_result
from .runs import write_run

REWARD = {"source": SOURCE.text, "entry": "compute_score", "signature": None, "rows": [{}] * 1200}


@pytest.fixture
def operator(client: TestClient, service: Service) -> TestClient:
    """A browser of the operator."""
    key = service.directory.add_key("default", [Grant.READ])
    client.post(f"{ROOM}/login", data={"key": key})
    return client


@pytest.fixture
def tenant(service: Service, operator: TestClient) -> int:
    """The number of the operator's tenant."""
    return caller_of(service, operator.cookies["unhack_key"]).tenant_id


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder that nobody changes."""
    folder = tmp_path_factory.mktemp("trained") / "r"
    write_run(folder)
    return folder


@pytest.fixture
def run(service: Service, trained: Path) -> Path:
    """A run folder of the server, whose page is `runs/0/r`."""
    return Path(shutil.copytree(trained, service.settings.data / "r"))


def words(text: str) -> str:
    """What a page says, on one line."""
    main = text.split("<main", 1)[1]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", main))


def record_of(service: Service, folder: str) -> TournamentRecord:
    """A tournament on the toy contest."""
    return played(service.settings.data / folder, plan("search", "baseline:near", rounds=1))


@pytest.mark.slow
@pytest.mark.parametrize("database", BOTH, indirect=True)
def test_a_list_says_what_every_job_came_to(
    operator: TestClient, service: Service, tenant: int
) -> None:
    for made in (report(SUFFIX, HOSTILE), report(why="nothing \ud800 \0 passed")):
        store_job(service, tenant, "audit", {"reward": REWARD}, result=strict(made.to_json()))
    store_job(service, tenant, "audit", {"task": "strings/knit-rows"})
    won = record_of(service, "hill")
    assert won.winner is not None
    values = tournament_result(won)
    made = store_job(service, tenant, "tournament", {"contest": "hill"}, result=values)
    told = words(operator.get(f"{ROOM}/audits").text)
    assert "done compute_score exploitable" in told
    assert "done compute_score sound" in told
    assert "running strings/knit-rows -" in told
    assert f"done hill {won.winner.agent}" in words(operator.get(f"{ROOM}/tournaments").text)
    assert "Standings" in operator.get(f"{ROOM}/tournaments/{made}").text


def test_a_rewards_source_stands_beside_its_findings(
    operator: TestClient, service: Service, tenant: int
) -> None:
    result = strict(report(SUFFIX, FALSE_ACCEPT).to_json())
    made = store_job(service, tenant, "audit", {"reward": REWARD}, result=result)
    text = operator.get(f"{ROOM}/audits/{made}").text
    assert "<span class=marked><i>7</i>    if answer.endswith(ground_truth):" in text
    for part in ("The wrong completion", "Why it is wrong", "Fix", SUFFIX.witness, SUFFIX.fix):
        assert part in text


def test_what_was_asked_for_is_shown_without_its_rows(
    operator: TestClient, service: Service, tenant: int
) -> None:
    asked = {"reward": REWARD, "tiers": [1, 2], "options": {}, "task": None, "calls": 4000}
    told = words(operator.get(f"{ROOM}/audits/{store_job(service, tenant, 'audit', asked)}").text)
    assert "reward entry compute_score reward rows 1,200 source" in told
    assert "tiers 1, 2" in told
    assert "def compute_score(" in told
    for nothing in ("{}", "None", "null", "[{"):
        assert nothing not in told.split("source", 1)[0]


@pytest.mark.slow
def test_a_job_that_runs_says_how_far_it_is_and_what_was_played(
    operator: TestClient, service: Service, tenant: int
) -> None:
    made = store_job(service, tenant, "tournament", {"contest": "hill"})
    folder = service.jobs.folder_of(made, tenant)
    assert "Standings" not in operator.get(f"{ROOM}/tournaments/{made}").text
    folder.mkdir(parents=True)
    played(folder / RUN, plan("search", "baseline:near", rounds=1))
    work = JobWork(made, tenant, folder, JobProgress(stage="playing", done=3, total=8, note="new"))
    service.jobs._work[made] = work  # as the thread that carries it out does
    told = words(operator.get(f"{ROOM}/tournaments/{made}").text)
    assert "Running" in told
    assert re.search(r"runs since [\d.]+ s", told)
    assert "3 of 8 done" in told.replace("done 3 of 8", "3 of 8 done")
    assert "Standings" in told
    assert "How each agent ended" in told
    assert "links lead into" not in told


def test_a_job_that_failed_says_why_and_waits_for_nothing(
    operator: TestClient, service: Service, tenant: int
) -> None:
    made = store_job(service, tenant, "audit", {"task": "x"})
    failed = {"state": "failed", "error": "<b>no</b> such task", "finished_at": time.time()}
    service.database.write(
        lambda c: c.execute(sa.update(jobs).where(jobs.c.id == made).values(failed))
    ).result()
    text = operator.get(f"{ROOM}/audits/{made}").text
    assert "&lt;b&gt;no&lt;/b&gt; such task" in text
    assert "Failed" in words(text)
    assert "reload" not in text


@pytest.mark.slow
def test_the_commands_that_an_empty_page_names_are_there(operator: TestClient) -> None:
    text = operator.get(f"{ROOM}/").text
    named = re.findall(r"<code>(unhack [^<]+)</code>", text)
    assert len(named) == 3
    for command in named:
        found: Any = typer.main.get_command(app)
        parts = command.split()[1:]
        while parts and parts[0] in getattr(found, "commands", {}):
            found = found.commands[parts.pop(0)]
        assert not hasattr(found, "commands"), command
        options = {name for each in found.params for name in each.opts}
        assert {part for part in parts if part.startswith("-")} <= options, command


@pytest.mark.slow
def test_a_run_tells_why_it_stopped_and_whether_it_still_writes(
    operator: TestClient, run: Path
) -> None:
    address = f"{ROOM}/runs/0/r"
    assert "it may be over" not in operator.get(address).text
    for path in run.iterdir():
        os.utime(path, (1_700_000_000,) * 2)
    os.utime(run, (1_700_000_000,) * 2)
    assert "Nothing was written since" in words(operator.get(address).text)
    write_json(run / ABOUT, {"status": "stopped", "reason": "<i>entropy collapsed</i>"})
    text = operator.get(address).text
    assert "&lt;i&gt;entropy collapsed&lt;/i&gt;" in text
    assert "it may be over" not in text
    assert "stopped" in words(operator.get(f"{ROOM}/runs").text)


@pytest.mark.slow
def test_the_charts_of_a_run_name_their_lines_and_mark_whole_updates(
    operator: TestClient, run: Path
) -> None:
    lines = (run / METRICS).read_text().splitlines(keepends=True)
    (run / METRICS).write_text("".join(lines[:3]))
    text = operator.get(f"{ROOM}/runs/0/r").text
    assert [json.loads(line)["step"] for line in lines[:3]] == [0, 1, 2]
    first = text.split("Hack and solve in training")[1].split("</svg>")[0]
    assert re.findall(r'class="tick middle"[^>]*>([^<]+)<', first) == ["0", "1", "2"]
    assert {"hacked", "solved"} <= set(re.findall(r'class="beside[^>]*>(\w+)<', first))
    for told in ("hack deployed", "hack as trained", "solve deployed", "solve as trained"):
        assert f">{told}</th>" in text
    (run / METRICS).write_text(lines[0])
    assert "Charts begin with the second update" in operator.get(f"{ROOM}/runs/0/r").text


def test_a_long_run_is_drawn_by_means_of_steps(operator: TestClient, run: Path) -> None:
    one = json.loads((run / METRICS).read_text().splitlines()[0])
    steps = (
        {**one, "step": at, "hacked_on": float(at % 2), "solved_on": None} for at in range(400)
    )
    (run / METRICS).write_text("".join(f"{json.dumps(step)}\n" for step in steps))
    text = operator.get(f"{ROOM}/runs/0/r").text
    assert "A point is the mean of 5 steps" in text
    chart = text.split("Hack and solve in training")[1].split("</svg>")[0]
    points = re.search(r'class="line tone-bad" points="([^"]*)"', chart)
    assert points is not None
    heights = {each.split(",")[1] for each in points[1].split()}
    assert len(points[1].split()) == 80
    assert len(heights) == 2  # 2 or 3 of 5 hacked, and never all or none
    assert 'class="line tone-good"' not in chart


def test_the_leak_alarm_of_a_run_is_drawn_beside_its_limit(operator: TestClient, run: Path) -> None:
    assert "Leak alarm" not in operator.get(f"{ROOM}/runs/0/r").text
    steps = [json.loads(line) for line in (run / METRICS).read_text().splitlines()]
    told = (json.dumps({**step, "leak": 0.31, "claimed": 0.3}) for step in steps)
    (run / METRICS).write_text("".join(f"{line}\n" for line in told))
    text = operator.get(f"{ROOM}/runs/0/r").text
    assert "Leak alarm" in text
    assert "Above 15% the policy is said to leak" in text
    assert "31%" in text


@pytest.mark.parametrize("line", ["{}", "[]"])
def test_a_damaged_log_of_a_run_is_told_as_such(operator: TestClient, run: Path, line: str) -> None:
    (run / METRICS).write_text(f"{line}\n")
    reply = operator.get(f"{ROOM}/runs/0/r")
    assert reply.status_code == 400
    assert "a log of this run is damaged" in words(reply.text)


@pytest.mark.parametrize("name", ["lr #2", "a?b=1", "50% off", 'שלום "x" &amp;', "<img src=x>"])
def test_a_run_of_any_name_is_followed_and_kept(
    operator: TestClient, service: Service, trained: Path, name: str
) -> None:
    folder = Path(shutil.copytree(trained, service.settings.data / name))
    listed = operator.get(f"{ROOM}/runs").text
    [address] = re.findall(rf'href="({ROOM}/runs/0/[^"]*)"', listed)
    text = operator.get(unescape(address)).text
    [kept] = re.findall(r'href="([^"]*)" download', text)
    [events] = re.findall(r'data-events="([^"]*)"', text)
    write_json(folder / ABOUT, {**json.loads((folder / ABOUT).read_text()), "status": "finished"})
    assert "attachment" in operator.get(unescape(kept)).headers["Content-Disposition"]
    assert "event: over" in operator.get(unescape(events)).text
    operator.cookies.clear()
    form = operator.get(unescape(address))
    [after] = re.findall(r'name="next" value="([^"]*)"', form.text)
    assert (form.status_code, after) == (401, address)
