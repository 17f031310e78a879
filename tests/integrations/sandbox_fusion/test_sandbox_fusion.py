"""SandboxFusion's own client, pointed at a server of ours by one URL that carries the key."""

from __future__ import annotations

import asyncio
import base64
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sandbox_fusion
import uvicorn
from sandbox_fusion import (
    RunCodeRequest,
    RunStatus,
    SubmitRequest,
    SummaryMapping,
    TestConfig,
    run_code,
    run_code_async,
    submit,
    summary_run_code_result,
)

from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.service import ServerSettings, Service

CASES = [{"input": {"stdin": f"{at}\n"}, "output": {"stdout": f"{2 * at}\n"}} for at in range(3)]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server, with a key in it."""
    service = Service(ServerSettings(data=Path(tmp_path_factory.mktemp("data"))))
    key = service.directory.add_key("alpha", [Grant.SCORE])
    listener = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(make_app(service), log_level="warning"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/k/{key}"
    running.should_exit = True
    thread.join()
    listener.close()


def test_a_run_comes_back_as_its_models_want_it(url: str) -> None:
    sandbox_fusion.set_endpoint(url)
    asked = RunCodeRequest(code="print(input())", stdin="hi", language="python")
    told = run_code(asked, client_timeout=120)
    assert told.status == RunStatus.Success
    assert told.run_result is not None
    assert told.run_result.stdout == "hi\n"


@pytest.mark.parametrize(
    ("code", "language", "word"),
    [
        ("raise SystemExit(2)", "python", "run failed"),
        ("int main(", "cpp", "compile failed"),
        ("sleep 60", "bash", "too long"),
        ("print('ok')", "python", "Success"),
    ],
)
def test_their_summary_tells_the_ends_apart(url: str, code: str, language: str, word: str) -> None:
    asked = RunCodeRequest(code=code, language=language, run_timeout=10, compile_timeout=100)
    told = run_code(asked, endpoint=url, client_timeout=200)
    mapping = SummaryMapping(
        CompileFailed="compile failed", RunFailed="run failed", RunTimeout="too long"
    )
    assert summary_run_code_result(told, mapping) == word


def test_files_come_back_to_the_async_client(url: str) -> None:
    files = {"a.txt": base64.b64encode(b"seven").decode()}
    code = "open('b.txt', 'w').write(open('a.txt').read()[::-1])"
    asked = RunCodeRequest(code=code, language="python", files=files, fetch_files=["b.txt"])
    told = asyncio.run(run_code_async(asked, endpoint=url))
    assert base64.b64decode(told.files["b.txt"]) == b"neves"


def test_many_runs_at_once_get_their_own_output(url: str) -> None:
    async def main() -> list[str]:
        asked = [RunCodeRequest(code=f"print({at})", language="python") for at in range(24)]
        told = await asyncio.gather(*(run_code_async(one, endpoint=url) for one in asked))
        return [str(one.run_result and one.run_result.stdout) for one in told]

    assert asyncio.run(main()) == [f"{at}\n" for at in range(24)]


@pytest.mark.parametrize(
    ("code", "accepted"), [("print(2*int(input()))", True), ("print(0)", False)]
)
def test_a_submission_with_its_row_is_judged(url: str, code: str, accepted: bool) -> None:
    config = TestConfig(
        dataset_type="CommonOJDataset", language="python", provided_data={"id": 1, "test": CASES}
    )
    asked = SubmitRequest(dataset="mine", id=1, completion=f"```python\n{code}\n```", config=config)
    told = submit(asked, endpoint=url, client_timeout=120)
    assert told.accepted is accepted


def test_their_code_for_the_server_is_refused(url: str) -> None:
    config = TestConfig(
        language="python", provided_data={"id": 1, "test": CASES}, custom_extract_logic="1"
    )
    asked = SubmitRequest(dataset="mine", id=1, completion="", config=config)
    with pytest.raises(Exception, match="custom_extract_logic"):
        submit(asked, endpoint=url, max_attempts=1)
