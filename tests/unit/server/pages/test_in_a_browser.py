"""The pages in headless Chromium: what they ask for, how wide they are, keys, live runs, files."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.unit.audit.report_sample import FALSE_ACCEPT, SOURCE, SUFFIX, report
from tests.unit.audit.report_sample import HOSTILE as HOSTILE_FINDING
from tests.unit.tournament.hill import plan, played

from unhack import run_batch
from unhack.audit.report.wording import strict
from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.pages.frame import PLACES, ROOM
from unhack.server.service import Service
from unhack.tasks.suite import find_task

from .fill import caller_of, store_batch, store_job, tournament_result
from .runs import go_on, write_run

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
WAIT_MS = 240_000
"""A busy machine may need long for a page; nothing here is a claim about speed."""
HOSTILE = "<script>document.title='hacked'</script>\u202e" + "x" * 1_000_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium of this machine."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium here; `apt-get install chromium`")
    how = ["--no-sandbox", "--disable-dev-shm-usage"]  # root, and containers with a small /dev/shm
    with driver.sync_playwright() as started:
        found = started.chromium.launch(executable_path=path, args=how, timeout=WAIT_MS)
        yield found
        found.close()


@pytest.fixture
def address(service: Service) -> Iterator[str]:
    """A server on a port of its own."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        server = uvicorn.Server(
            uvicorn.Config(make_app(service), log_level="error", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)


@pytest.fixture
def filled(service: Service) -> dict[str, str]:
    """Addresses by name, for the operator; its key under `key`."""
    key = service.directory.add_key("default", list(Grant))
    task = find_task("strings/knit-rows")
    texts = [str(task.problem.reference), "def knit_rows(*a): return 0", "def x(:", HOSTILE]
    batch = run_batch([task] * len(texts), texts)
    rows = [(task.id, text, verdict) for text, verdict in zip(texts, batch.verdicts, strict=True)]
    made = store_batch(service, caller_of(service, key).tenant_id, rows, group_size=2)
    write_run(service.settings.data / "runs" / "a")
    tenant = caller_of(service, key).tenant_id
    audit = store_job(
        service, tenant, "audit", {"reward": {"source": SOURCE.text}},
        result=strict(report(SUFFIX, FALSE_ACCEPT, HOSTILE_FINDING).to_json()),
    )  # fmt: skip
    record = played(service.settings.data / "hill", plan("search", "cheater", rounds=2))
    jobs = {
        "audit": f"audits/{audit}",
        "audit that runs": f"audits/{store_job(service, tenant, 'audit', {'task': 'w' * 300})}",
        "tournament": "tournaments/"
        + store_job(service, tenant, "tournament", {}, result=tournament_result(record)),
        "tournament in a folder": "tournament-runs/0/hill",
    }
    pages = {name: path for path, name in PLACES.items()}
    pages |= {name: f"{ROOM}/{path}" for name, path in jobs.items()}
    pages |= {"batch": f"{ROOM}/batches/{made}", "run": f"{ROOM}/runs/0/runs/a"}
    pages |= {f"item {n}": f"{ROOM}/batches/{made}/{n}" for n in range(4)}
    return {**pages, "key": key}


def signed_in(browser: Any, address: str, key: str, **how: Any) -> Any:
    """A tab whose browser signed in by the form."""
    tab = browser.new_context(**how).new_page()
    tab.set_default_timeout(WAIT_MS)
    tab.goto(f"{address}{ROOM}/login")
    tab.fill("#key", key)
    tab.press("#key", "Enter")
    tab.wait_for_url(f"{address}{ROOM}/")
    return tab


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_fits_and_asks_for_nothing_else(
    browser: Any, address: str, filled: dict[str, str], scheme: str, width: int
) -> None:
    key = filled.pop("key")
    size = {"width": width, "height": 900}
    tab = signed_in(browser, address, key, viewport=size, color_scheme=scheme)
    asked: list[str] = []
    wrong: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    grounds: set[str] = set()
    for name, path in filled.items():
        asked.clear()
        tab.goto(address + path)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
        events = [url for url in asked if "/run-events/" in url]
        assert asked == [address + path, *events], name
        assert "hacked" not in tab.title()
        assert tab.evaluate(DULL) == [], name
        grounds.add(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert not wrong
    assert grounds == {"rgb(246, 247, 249)" if scheme == "light" else "rgb(16, 21, 28)"}


DULL = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, place) => sum + c * [0.2126, 0.7152, 0.0722][place], 0);
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const found = rgba(getComputedStyle(each).backgroundColor);
      if (found[3] === 1) return found;
    }
    return [255, 255, 255, 1];
  };
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.data.trim(), element = texts.currentNode.parentElement;
    if (!text || element.closest("script, style, title")) continue;
    const style = getComputedStyle(element);
    const ink = rgba(element.closest("svg") ? style.fill : style.color);
    const [low, high] = [light(ink), light(ground(element))].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${text.slice(0, 40)}`);
  }
  return found;
}"""
"""Texts with less contrast than WCAG 2.2 AA asks of small letters."""


def test_a_keyboard_gets_around(browser: Any, address: str, filled: dict[str, str]) -> None:
    tab = signed_in(browser, address, filled["key"])
    tab.keyboard.press("Tab")
    first = "document.activeElement"
    assert tab.evaluate(f"{first}.textContent") == "To the content"
    assert tab.evaluate(f"{first}.getBoundingClientRect().left") >= 0
    order: list[str] = []
    for _ in PLACES:
        tab.keyboard.press("Tab")
        order.append(tab.evaluate(f"{first}.textContent"))
        assert tab.evaluate(f"getComputedStyle({first}).outlineStyle") == "solid"
    assert order == list(PLACES.values())
    tab.goto(address + filled["item 1"])
    tab.locator("summary").nth(1).focus()
    tab.keyboard.press("Enter")
    assert tab.locator("details").nth(1).get_attribute("open") is not None


def test_a_run_is_followed_while_it_goes_on(
    browser: Any, address: str, filled: dict[str, str], service: Service
) -> None:
    tab = signed_in(browser, address, filled["key"])
    tab.goto(address + filled["run"])
    tab.get_by_text("Live: this page follows the run.").wait_for()
    folder = service.settings.data / "runs" / "a"
    go_on(folder, step=7)
    tab.locator("td", has_text="7").first.wait_for()
    go_on(folder, step=8, status="finished")
    tab.get_by_text("The run has ended.").wait_for()
    assert tab.locator(".word").inner_text() == "Finished"


def test_a_live_page_asks_again_where_the_answer_is_no_stream(
    browser: Any, address: str, filled: dict[str, str], service: Service
) -> None:
    tab = signed_in(browser, address, filled["key"])
    left = [503, 502]
    asked: list[str] = []

    def answer(route: Any) -> None:
        asked.append(route.request.url)
        if left:
            route.fulfill(status=left.pop(), content_type="text/html", body="restarting")
        else:
            route.continue_()

    tab.route("**/run-events/**", answer)
    tab.goto(address + filled["run"])
    tab.get_by_text("Not connected; trying again.").wait_for()
    tab.get_by_text("Live: this page follows the run.").wait_for()
    assert len(asked) == 3
    go_on(service.settings.data / "runs" / "a", step=7)
    tab.locator("td", has_text="7").first.wait_for()


def test_a_tab_that_nobody_sees_holds_no_connection(
    browser: Any, address: str, filled: dict[str, str], service: Service
) -> None:
    tab = signed_in(browser, address, filled["key"])
    asked: list[str] = []
    ended: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("requestfailed", lambda request: ended.append(request.url))
    tab.goto(address + filled["run"])
    tab.get_by_text("Live: this page follows the run.").wait_for()
    streams = [url for url in asked if "/run-events/" in url]
    with tab.expect_event("requestfailed"):
        tab.evaluate(SEEN, False)
    assert ended == streams[-1:]
    go_on(service.settings.data / "runs" / "a", step=7)
    tab.evaluate(SEEN, True)
    tab.locator("td", has_text="7").first.wait_for()


SEEN = """(seen) => {
  Object.defineProperty(document, "hidden", { configurable: true, value: !seen });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""Hides a tab, or shows it."""


def test_news_leave_the_focus_where_it_is(
    browser: Any, address: str, filled: dict[str, str], service: Service
) -> None:
    tab = signed_in(browser, address, filled["key"])
    tab.goto(address + filled["run"])
    tab.get_by_text("Live: this page follows the run.").wait_for()
    tab.locator(".scroll").last.focus()
    go_on(service.settings.data / "runs" / "a", step=7)
    tab.locator("td", has_text="7").first.wait_for()
    held = "document.activeElement === [...document.querySelectorAll('.scroll')].at(-1)"
    assert tab.evaluate(held)


def test_a_page_works_without_a_script(browser: Any, address: str, filled: dict[str, str]) -> None:
    tab = signed_in(browser, address, filled["key"], java_script_enabled=False)
    for path in (filled["run"], filled["batch"], filled["item 1"]):
        tab.goto(address + path)
        assert tab.locator("h1").count() == 1
    tab.get_by_role("button", name="Judge it again").click()
    tab.get_by_text("It was judged again just now, with the same outcome").wait_for()
    assert tab.get_by_text("obtained").first.is_visible()


def test_a_kept_page_opens_from_the_disk_and_asks_for_nothing(
    browser: Any, address: str, filled: dict[str, str], tmp_path: Path
) -> None:
    key = filled.pop("key")
    tab = signed_in(browser, address, key)
    assert filled
    for name, path in filled.items():
        tab.goto(address + path)
        with tab.expect_download() as under_way:
            tab.get_by_text("Keep as one file").click()
        file = tmp_path / f"{name}.html"
        under_way.value.save_as(file)
        alone = browser.new_context(offline=True).new_page()
        asked: list[str] = []
        alone.on("request", lambda request, asked=asked: asked.append(request.url))
        alone.goto(file.as_uri())
        assert asked == [file.as_uri().replace("#", "%23")]
        assert alone.locator("h1").count() == 1, name
        assert (
            alone.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") == "1152px"
        )
        alone.context.close()


def test_the_check_of_contrast_sees_what_is_dull(browser: Any) -> None:
    tab = browser.new_context().new_page()
    tab.set_content(
        "<body style='background:#fff'><p style='color:#999'>dull</p><p style='color:#333'>ink</p>"
        "<svg><text y='9' style='fill:#ccc'>pale</text></svg>"
    )
    assert [each.split()[1] for each in tab.evaluate(DULL)] == ["dull", "pale"]


def test_events_end_so_that_a_server_can_end(address: str, filled: dict[str, str]) -> None:
    httpx = pytest.importorskip("httpx")
    with httpx.stream(
        "GET", f"{address}{ROOM}/run-events/0/runs/a", headers={"X-API-Key": filled["key"]},
        timeout=120,
    ) as stream:  # fmt: skip
        lines = list(stream.iter_lines())
    assert lines[0].startswith("retry:")
    parts = [line for line in lines if line.startswith("data: ")]
    assert len(parts) == 1
    assert "Training run" in json.loads(parts[0].removeprefix("data: "))
