"""Claims about pages: who sees them, what they say, and that texts on them stay texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from unhack.core.verdict import CaseResult, Status, Usage, Verdict, unscored_verdict
from unhack.server.access.caller import Grant
from unhack.server.app import ROUTES
from unhack.server.pages.frame import ROOM
from unhack.server.service import Service

from .fill import caller_of, store_batch, store_job

PASSED = Verdict(
    Status.PASSED, 1.0, cases=(CaseResult(True),) * 2, usage=Usage(0.01, 0.01, 1 << 20)
)
FAILED = Verdict(
    Status.FAILED, 0.0, "case 2 of 2: expected 3, got 4",
    (CaseResult(True), CaseResult(False, "expected 3, got 4")), Usage(2.5, 2.4, 9 << 20),
)  # fmt: skip
TASK = "strings/knit-rows"
HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\u202eevil\x1b[31m\x00\ud800"


class Seen(HTMLParser):
    """The tags, handlers and addresses of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: list[str] = []
        self.loads: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names += [name for name, _ in attrs]
        self.loads += [name for name, _ in attrs if name in ("src", "srcset", "data", "style")]
        self.links += [value or "" for name, value in attrs if name == "href"]


@pytest.fixture
def reader(client: TestClient, key: str) -> TestClient:
    """A browser that signed in."""
    client.post(f"{ROOM}/login", data={"key": key})
    assert client.cookies
    return client


@pytest.fixture
def batch(service: Service, key: str) -> str:
    """A batch of the tenant alpha: a group that passed, a mixed one, one that failed."""
    judged = [PASSED, PASSED, PASSED, FAILED, FAILED, FAILED]
    tenant = caller_of(service, key).tenant_id
    rows = [(TASK, HOSTILE, verdict) for verdict in judged]
    return store_batch(service, tenant, rows, group_size=2)


def pages(batch: str, audit: str) -> Iterator[str]:
    """Addresses that show something of a tenant."""
    yield from ("/", "/batches", f"/batches/{batch}", f"/batches/{batch}/3", "/audits")
    yield from (f"/audits/{audit}", "/tournaments", "/runs")


def test_every_page_asks_for_a_key_by_a_form(client: TestClient) -> None:
    asked = [each for each in ROUTES if each.path.startswith(ROOM) and not each.open]
    assert len(asked) > 10
    for each in asked:
        path = re.sub(r"\{[^}]*\}", "1", each.path)
        reply = client.request(each.method, path)
        assert reply.status_code == 401, each.path
        assert '<input id="key"' in reply.text


def test_a_key_without_read_sees_no_page(client: TestClient, service: Service) -> None:
    key = service.directory.add_key("alpha", [Grant.SCORE])
    assert client.post(f"{ROOM}/login", data={"key": key}).status_code == 403
    assert not client.cookies
    assert client.get(f"{ROOM}/", headers={"X-API-Key": key}).status_code == 403


def test_the_cookie_is_out_of_reach_of_scripts_and_of_the_api(client: TestClient, key: str) -> None:
    reply = client.post(f"{ROOM}/login", data={"key": key}, follow_redirects=False)
    told = reply.headers["set-cookie"].lower()
    assert reply.status_code == 303
    assert reply.headers["location"] == f"{ROOM}/"
    assert "httponly" in told
    assert "samesite=strict" in told
    assert f"path={ROOM}" in told
    assert key not in reply.headers["location"]


def test_after_signing_in_one_stays_on_this_server(client: TestClient, key: str) -> None:
    for foreign in ("https://example.org/", "//example.org", f"{ROOM}//example.org", "/v1/keys"):
        reply = client.post(
            f"{ROOM}/login", data={"key": key, "next": foreign}, follow_redirects=False
        )
        assert reply.headers["location"] == f"{ROOM}/"


def test_a_wrong_key_is_said_and_sets_nothing(client: TestClient) -> None:
    reply = client.post(f"{ROOM}/login", data={"key": "uh_wrong"})
    assert reply.status_code == 401
    assert "no such key" in reply.text
    assert not client.cookies


def test_a_form_of_another_site_is_refused(reader: TestClient, batch: str) -> None:
    for path in ("/login", "/logout", f"/batches/{batch}/0"):
        for headers in ({"Origin": "https://example.org"}, {"Sec-Fetch-Site": "cross-site"}):
            assert reader.post(f"{ROOM}{path}", headers=headers).status_code == 403


def test_a_proxy_that_changes_host_keeps_nobody_from_signing_in(
    client: TestClient, key: str
) -> None:
    """The browser's own word counts there; without it, the Origin."""
    login = f"{ROOM}/login"
    headers = {"Origin": "https://judge.example", "Sec-Fetch-Site": "same-origin"}
    for value, code in (("same-origin", 303), ("same-site", 403), ("cross-site", 403)):
        headers["Sec-Fetch-Site"] = value
        reply = client.post(login, data={"key": key}, headers=headers, follow_redirects=False)
        assert reply.status_code == code
    del headers["Sec-Fetch-Site"]
    assert client.post(login, data={"key": key}, headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("said", "secure"), [("https", True), ("http, https", True), ("http", False), ("", False)]
)
def test_behind_a_proxy_with_tls_the_cookie_goes_by_https_alone(
    client: TestClient, key: str, said: str, secure: bool
) -> None:
    reply = client.post(
        f"{ROOM}/login",
        data={"key": key},
        headers={"X-Forwarded-Proto": said},
        follow_redirects=False,
    )
    assert ("; secure" in reply.headers["set-cookie"].lower()) is secure


def test_signing_out_forgets_the_cookie(reader: TestClient) -> None:
    assert reader.get(f"{ROOM}/").status_code == 200
    reader.post(f"{ROOM}/logout")
    assert reader.get(f"{ROOM}/").status_code == 401


@pytest.mark.slow
def test_a_tenant_sees_nothing_of_another(
    client: TestClient, service: Service, key: str, batch: str
) -> None:
    audit = store_job(service, caller_of(service, key).tenant_id, "audit", {"task": TASK})
    other = service.directory.add_key("beta", list(Grant))
    for path in pages(batch, audit):
        seen = client.get(f"{ROOM}{path}", headers={"X-API-Key": other})
        mine = client.get(f"{ROOM}{path}", headers={"X-API-Key": key})
        assert mine.status_code == 200, path
        assert batch[:8] not in seen.text.replace(path, "") or seen.status_code == 404
        if batch in path or audit in path:
            assert seen.status_code == 404, path
    again = client.post(f"{ROOM}/batches/{batch}/0", headers={"X-API-Key": other})
    assert again.status_code == 404


def test_run_folders_are_the_operators(client: TestClient, service: Service, key: str) -> None:
    folder = service.settings.data / "mine"
    folder.mkdir(parents=True)
    (folder / "format.json").write_text('{"kind": "training", "version": 1}')
    (folder / "metrics.jsonl").write_text("")
    operator = {"X-API-Key": service.directory.add_key("default", [Grant.READ])}
    assert client.get(f"{ROOM}/runs/0/mine", headers=operator).status_code == 200
    assert "0/mine" in client.get(f"{ROOM}/runs", headers=operator).text
    other = {"X-API-Key": key}
    for path in ("runs/0/mine", "run-events/0/mine", "audit-runs/0/mine", "tournament-runs/0/mine"):
        assert client.get(f"{ROOM}/{path}", headers=other).status_code == 404
    assert "0/mine" not in client.get(f"{ROOM}/runs", headers=other).text


@pytest.mark.parametrize(
    "name", ["9/mine", "0/../out", "0/..%2Fout", "0/%2e%2e/out", "0/link", "0//etc", "x", "0/a%00b"]
)
def test_an_address_never_leads_out_of_the_run_folders(
    client: TestClient, service: Service, name: str, tmp_path: Path
) -> None:
    for folder in (tmp_path / "out", service.settings.data / "jobs" / "1" / "run"):
        folder.mkdir(parents=True)
        (folder / "format.json").write_text('{"kind": "training", "version": 1}')
    (service.settings.data / "link").symlink_to(tmp_path / "out")
    operator = {"X-API-Key": service.directory.add_key("default", [Grant.READ])}
    for path in (name, "0/jobs/1/run"):
        assert client.get(f"{ROOM}/runs/{path}", headers=operator).status_code == 404


def test_a_page_loads_nothing_and_a_completion_stays_text(
    reader: TestClient, service: Service, key: str, batch: str
) -> None:
    audit = store_job(service, caller_of(service, key).tenant_id, "audit", {"task": HOSTILE[:-1]})
    paths = [*pages(batch, audit)]
    assert paths
    for path in paths:
        reply = reader.get(f"{ROOM}{path}")
        seen = Seen(reply.text)
        assert reply.status_code == 200
        assert not seen.loads, path
        assert not {"script", "img", "link", "iframe"} & set(seen.tags), path
        assert not [name for name in seen.names if name.startswith("on")], path
        assert all(link.startswith((ROOM, "#")) for link in seen.links), path
        assert not set(reply.text) & {"\u202e", "\x1b", "\x00"}, path
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy


def test_a_page_to_keep_has_no_way_into_the_server(
    reader: TestClient, service: Service, key: str, batch: str
) -> None:
    audit = store_job(service, caller_of(service, key).tenant_id, "audit", {"task": TASK})
    paths = [*pages(batch, audit)]
    assert paths
    for path in paths:
        reply = reader.get(f"{ROOM}{path}?export=1")
        seen = Seen(reply.text)
        assert reply.headers["content-disposition"].startswith("attachment; filename=")
        assert not seen.links, path
        assert not seen.loads, path
        assert not {"form", "script", "button"} & set(seen.tags), path
        assert f"{ROOM}/" not in reply.text, path


def test_a_batch_shows_its_groups_reasons_and_slowest(reader: TestClient, batch: str) -> None:
    text = re.sub(r"<[^>]+>", " ", reader.get(f"{ROOM}/batches/{batch}").text)
    words = re.sub(r"\s+", " ", text)
    assert "all pass 33.3%" in words.replace("33.3% all pass", "all pass 33.3%")
    assert "66.7% of the groups of 2 have equal rewards" in words
    assert "failed expected 3, got 4 3" in words
    assert "item 3 failed 2.5 s" in words


def test_a_group_with_partial_credit_has_its_gradient(
    reader: TestClient, service: Service, key: str
) -> None:
    half = Verdict(Status.FAILED, 0.5, "case 2 of 2: wrong", FAILED.cases, Usage(0.1, 0.1, 1))
    judged = [half, FAILED, half, half]
    rows = [(TASK, "x", verdict) for verdict in judged]
    made = store_batch(service, caller_of(service, key).tenant_id, rows, group_size=2)
    told = reader.get(f"/v1/batches/{made}", headers={"X-API-Key": key}).json()
    words = reader.get(f"{ROOM}/batches/{made}").text
    assert (told["all_fail"], told["no_signal"]) == (0.0, 0.5)
    assert "50.0% of the groups of 2 have equal rewards" in words


def test_an_address_without_a_page_is_told_on_one(reader: TestClient, batch: str) -> None:
    for path in ("nonsense", "batches?page=2", f"batches/{batch}?page=2", "audits?page=9"):
        told = reader.get(f"{ROOM}/{path}")
        assert (told.status_code, told.headers["content-type"][:9]) == (404, "text/html"), path
    assert reader.get("/v1/nonsense").headers["content-type"] == "application/json"


def test_a_batch_that_was_not_accepted_is_on_no_page(
    reader: TestClient, service: Service, key: str
) -> None:
    rows = [(TASK, "x", PASSED)]
    made = store_batch(service, caller_of(service, key).tenant_id, rows)
    lost = "UPDATE batches SET state = 'receiving' WHERE id = :id"
    service.database.write(lambda c: c.execute(sa.text(lost), {"id": made})).result()
    assert reader.get(f"/v1/batches/{made}", headers={"X-API-Key": key}).status_code == 404
    assert reader.get(f"{ROOM}/batches/{made}").status_code == 404
    assert made[:10] not in reader.get(f"{ROOM}/batches").text


def test_a_database_that_does_not_answer_is_told_on_a_page(
    reader: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: Any) -> Any:
        raise sa.exc.OperationalError("SELECT 1", None, Exception("the connection was lost"))

    monkeypatch.setattr(service.database, "read", lost)
    for path in ("/", "/batches", f"/batches/{'0' * 32}/0"):
        told = reader.get(f"{ROOM}{path}")
        assert (told.status_code, told.headers["Retry-After"]) == (503, "5"), path
        assert "database does not answer" in told.text
        assert told.headers["content-type"].startswith("text/html")
    service.callers._known.clear()  # from here on the key itself cannot be looked up
    told = reader.get(f"{ROOM}/")
    assert (told.status_code, told.headers["content-type"][:9]) == (503, "text/html")


def test_items_are_listed_by_outcome(reader: TestClient, batch: str) -> None:
    text = reader.get(f"{ROOM}/batches/{batch}?status=failed").text
    listed = text.split("Items that are failed")[1]
    assert re.findall(r">item (\d+)<", listed) == ["3", "4", "5"]
    wrong = reader.get(f"{ROOM}/batches/{batch}?status=nice")
    assert wrong.status_code == 400
    assert "status: one of" in wrong.text.replace("Status", "status")


@pytest.mark.parametrize("page", ["0", "-1", "x", "99999999999", "１"])
def test_a_page_number_that_is_none_is_refused_by_name(
    reader: TestClient, batch: str, page: str
) -> None:
    reply = reader.get(f"{ROOM}/batches/{batch}", params={"page": page})
    assert reply.status_code == 400
    assert "Page: a whole number" in reply.text


def test_what_is_not_scored_takes_no_part_in_its_group(
    reader: TestClient, service: Service, key: str
) -> None:
    broken = unscored_verdict("broken")
    judged = [(TASK, "", verdict) for verdict in (broken, FAILED, broken, broken)]
    made = store_batch(service, caller_of(service, key).tenant_id, judged, group_size=2)
    text = reader.get(f"{ROOM}/batches/{made}").text
    assert "<dt>groups</dt><dd>1</dd>" in text
    told = reader.get(f"/v1/batches/{made}", headers={"X-API-Key": key}).json()
    assert (told["all_fail"], "<dt>all fail</dt><dd>100.0%</dd>" in text) == (1.0, True)
    assert "broken" in text


def test_a_verdict_shows_input_and_expected_of_every_case(reader: TestClient, batch: str) -> None:
    text = reader.get(f"{ROOM}/batches/{batch}/3").text
    assert "What a reader may do" in text
    assert "expected 3, got 4" in text
    assert "\\u202eevil" in text


def test_a_verdict_shows_the_outputs_that_are_stored(
    reader: TestClient, service: Service, key: str
) -> None:
    tenant = caller_of(service, key).tenant_id
    cases = service.names.find(tenant, json.dumps(TASK)).verifier.cases
    told = replace(FAILED, cases=(CaseResult(False, output="'knitted'"),) * len(cases))
    made = store_batch(service, tenant, [(TASK, "x", told)])
    text = reader.get(f"{ROOM}/batches/{made}/0").text
    assert "knitted" in text
    assert "those of failed cases are stored" in text


def test_a_verdict_is_judged_again_for_its_outputs(
    reader: TestClient, service: Service, key: str
) -> None:
    wrong = "def knit_rows(*args):\n    return 'nothing like it'\n"
    stored = [(TASK, wrong, PASSED)]
    made = store_batch(service, caller_of(service, key).tenant_id, stored)
    reply = reader.post(f"{ROOM}/batches/{made}/0")
    assert reply.status_code == 200
    assert "is stored. Its outcome depends on more than its text" in reply.text
    assert "obtained" in reply.text or "Invalid" in reply.text


def test_a_long_line_of_a_completion_loses_its_middle(
    reader: TestClient, service: Service, key: str
) -> None:
    stored = [(TASK, "x" * 1_000_000, FAILED)]
    made = store_batch(service, caller_of(service, key).tenant_id, stored)
    reply = reader.get(f"{ROOM}/batches/{made}/0")
    assert len(reply.text) < 200_000
    assert "more characters" in reply.text
    assert "1,000,000 characters" in reply.text


def test_a_list_without_anything_says_what_to_do(reader: TestClient) -> None:
    text = reader.get(f"{ROOM}/").text
    for told in ("POST /v1/batches", "POST /v1/audits", "POST /v1/tournaments"):
        assert told in text
    assert "operator" in text


def test_an_unknown_batch_is_a_page(reader: TestClient) -> None:
    reply = reader.get(f"{ROOM}/batches/<b>nothing</b>")
    assert reply.status_code == 404
    assert "<b>nothing" not in reply.text


def test_a_verdict_says_what_ran_and_what_was_expected(
    reader: TestClient, service: Service, key: str
) -> None:
    tenant = caller_of(service, key).tenant_id
    nothing = Verdict(Status.INVALID, 0.0, "no code in the completion…")
    stored = [(TASK, "", nothing), ("math/bag-draw#3", "I think 3", nothing)]
    made = store_batch(service, tenant, stored)
    text = reader.get(f"{ROOM}/batches/{made}/0").text
    assert "nothing was run" in text
    assert "never held the answer" not in text
    assert "no code in the completion… Judged" in text
    assert "whether the outcome stays the same" in text
    assert "<h2>Expected answer</h2>" in reader.get(f"{ROOM}/batches/{made}/1").text


def test_credit_is_told_where_it_is_partial(reader: TestClient, service: Service, key: str) -> None:
    partial = (CaseResult(True), CaseResult(False, "near", 0.25), CaseResult(False, "far"))
    verdict = Verdict(Status.FAILED, 0.4, "case 2 of 3: near", partial, isolation="namespaces")
    made = store_batch(service, caller_of(service, key).tenant_id, [(TASK, "x", verdict)])
    text = re.sub(r"<[^>]+>", "", reader.get(f"{ROOM}/batches/{made}/0").text)
    assert "case 1 " in text
    assert "case 2, credit 0.25 near" in text
    assert "case 3 far" in text
    assert "never held the answer" in text
