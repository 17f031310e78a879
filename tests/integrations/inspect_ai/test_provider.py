"""The sandbox under Inspect's own solvers and tools, and under programs that want out of it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver
from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironmentSpec,
    SandboxUserUnsupportedError,
    sandbox,
)

from unhack.core.errors import UsageError
from unhack.integrations.inspect_ai import SealedSandbox, SealedSandboxConfig
from unhack.sandbox.linux.processes import command_lines

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture
async def box(anyio_backend):
    made = SealedSandbox()
    yield made
    made.close()


async def told(box: SealedSandbox, script: str, **more: Any) -> str:
    """What a shell script writes to its standard output."""
    found = await box.exec(["sh", "-c", script], **more)
    return found.stdout


class TestFiles:
    async def test_files_last_in_the_workspace_tmp_and_home(self, box: SealedSandbox) -> None:
        await box.exec(["sh", "-c", "echo a > f; echo b > /tmp/f; echo c > ~/f; chmod 700 f"])
        assert await told(box, "cat f /tmp/f ~/f; stat -c %a f") == "a\nb\nc\n700\n"
        assert await box.read_file("/tmp/f") == "b\n"

    async def test_samples_do_not_see_each_other(self, box: SealedSandbox) -> None:
        other = SealedSandbox()
        await box.write_file("/tmp/secret", "mine")
        with pytest.raises(FileNotFoundError):
            await other.read_file("/tmp/secret")
        other.close()

    async def test_nothing_of_ours_is_left_beside_the_files(self, box: SealedSandbox) -> None:
        await box.write_file("a", "x")
        await box.read_file("a")
        await box.exec(["cat"], input=b"y" * (3 << 20))
        assert await told(box, "ls -A") == ".home\n.tmp\na\n"

    async def test_a_long_input_is_read_as_a_pipe_would_be(self, box: SealedSandbox) -> None:
        text = "line\n" * 600_000
        assert (await box.exec(["tail", "-n1"], input=text)).stdout == "line\n"

    async def test_text_that_is_none_is_told(self, box: SealedSandbox) -> None:
        await box.write_file("a", b"\xff")
        with pytest.raises(UnicodeDecodeError):
            await box.read_file("a")

    async def test_reading_works_where_the_folder_may_not_be_written(
        self, box: SealedSandbox
    ) -> None:
        await box.exec(["sh", "-c", "echo x > a; chmod 555 ."])
        assert await box.read_file("a") == "x\n"
        with pytest.raises(PermissionError):
            await box.write_file("b", "y")

    async def test_more_than_may_be_kept_is_undone(self, anyio_backend: str) -> None:
        box = SealedSandbox(SealedSandboxConfig(disk_mib=8))
        script = "head -c 5000000 /dev/zero > {}"
        assert (await box.exec(["sh", "-c", script.format("a")])).success
        found = await box.exec(["sh", "-c", script.format("b")])
        assert not found.success
        assert "8 MiB" in found.stderr
        assert await told(box, "ls") == "a\n"
        with pytest.raises(OSError, match="No space left"):
            await box.write_file("c", b"x" * (4 << 20))
        box.close()


class TestCommands:
    async def test_no_process_outlives_its_command(self, box: SealedSandbox) -> None:
        await box.exec(["sh", "-c", "(setsid sleep 1234567 &) ; echo started"])
        assert not [one for one in command_lines().values() if b"1234567" in one]

    async def test_commands_of_one_sample_take_turns(self, box: SealedSandbox) -> None:
        script = "n=$(cat n 2>/dev/null || echo 0); sleep 0.05; echo $((n + 1)) > n"
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(told, box, script)
        assert await box.read_file("n") == "6\n"

    async def test_a_cancelled_command_is_ended(self, box: SealedSandbox) -> None:
        with anyio.move_on_after(1):
            await box.exec(["sleep", "7654321"])
        assert await told(box, "echo on") == "on\n"
        assert not [one for one in command_lines().values() if b"7654321" in one]

    async def test_too_much_output_is_told_with_its_beginning(self, box: SealedSandbox) -> None:
        with pytest.raises(OutputLimitExceededError) as caught:
            await box.exec(["sh", "-c", "yes | head -c 11000000"])
        assert caught.value.truncated_output.startswith("y\ny\n")
        with pytest.raises(OutputLimitExceededError):
            await box.exec(["yes"])

    async def test_a_user_is_refused(self, box: SealedSandbox) -> None:
        with pytest.raises(SandboxUserUnsupportedError, match="root"):
            await box.exec(["id"], user="root")

    @pytest.mark.parametrize("word", ["a\0b", "\ud800", "x" * (3 << 20)])
    async def test_arguments_that_cannot_be_given_fail_with_words(
        self, box: SealedSandbox, word: str
    ) -> None:
        found = await box.exec(["echo", word])
        assert not found.success
        assert found.stderr

    async def test_what_is_missing_is_an_ordinary_failure(self, box: SealedSandbox) -> None:
        assert (await box.exec(["no-such-program"])).returncode == 127
        assert not (await box.exec(["ls"], cwd="/no/such")).success

    async def test_a_fork_bomb_and_a_glutton_end_as_commands_do(self, anyio_backend: str) -> None:
        small = SealedSandbox(SealedSandboxConfig(memory_mib=256, processes=32))
        bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
        with pytest.raises(TimeoutError):
            await small.exec(["python3", "-c", bomb], timeout=2)
        found = await small.exec(["python3", "-c", "x = bytearray(4 << 30)"])
        assert not found.success
        assert await told(small, "echo on") == "on\n"
        small.close()


class TestHostileProgram:
    async def test_it_sees_no_secret_of_the_host(
        self, box: SealedSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SECRET_KEY", "swordfish")
        (tmp_path / "secret").write_text("swordfish")
        places = [tmp_path / "secret", Path(__file__), "/etc/shadow", "/proc/1/root/etc/shadow"]
        for place in map(str, places):
            found = await box.exec(["cat", place])
            assert not found.success, place
            with pytest.raises((FileNotFoundError, PermissionError)):
                await box.read_file(place, text=False)
        shown = await told(box, "env; cat /proc/*/environ; ls / /home /proc")
        assert "swordfish" not in shown
        assert (
            await told(box, "ls -A /.layers /.proc /.step") == "/.layers:\n\n/.proc:\n\n/.step:\n"
        )
        assert str(os.getpid()) not in shown.split()
        assert (await told(box, "cat /etc/passwd")).startswith("agent:x:65534:")

    async def test_a_link_leads_nowhere_but_into_the_sandbox(self, box: SealedSandbox) -> None:
        await box.exec(["sh", "-c", "ln -s /etc/passwd p; ln -s / r; ln -s /etc/shadow s"])
        assert "agent" in await box.read_file("p")
        with pytest.raises((FileNotFoundError, PermissionError)):
            await box.read_file("s")
        with pytest.raises(OSError, match="passwd"):
            await box.write_file("r/etc/passwd", "root::0:0::/:/bin/sh")
        await box.exec(["sh", "-c", "rm -rf .tmp .home; ln -s / .tmp; ln -s /etc .home"])
        assert await told(box, "ls /tmp ~") == "/home/agent:\n\n/tmp:\n"

    async def test_it_has_no_network(self, box: SealedSandbox) -> None:
        listener = await anyio.to_thread.run_sync(_listen)
        port = listener.getsockname()[1]
        program = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        assert not (await box.exec(["python3", "-c", program])).success
        program = "import socket; socket.getaddrinfo('example.org', 80)"
        assert not (await box.exec(["python3", "-c", program])).success
        listener.close()

    async def test_it_changes_nothing_that_others_run(self, box: SealedSandbox) -> None:
        script = "echo x > /usr/bin/cat; echo x >> /etc/passwd; mount -t tmpfs x /mnt; kill -9 -1"
        await box.exec(["sh", "-c", script])
        assert await told(box, "echo hello | cat") == "hello\n"
        fake = "mkdir -p ~/bin; printf '#!/bin/sh' > ~/bin/python3; chmod +x ~/bin/python3"
        await box.exec(["sh", "-c", fake])
        await box.write_file("a", "x")
        other = SealedSandbox()
        assert await told(other, "python3 -c 'print(1)'") == "1\n"
        other.close()


def _listen() -> Any:
    import socket

    listener = socket.create_server(("127.0.0.1", 0))
    return listener


class TestConfig:
    @pytest.mark.parametrize(
        ("config", "said"),
        [
            ("no-such.toml", "no-such.toml"),
            (SandboxEnvironmentSpec("unhack"), "SandboxEnvironmentSpec"),
        ],
    )
    async def test_another_config_is_refused_by_name(
        self, config: Any, said: str, anyio_backend: str
    ) -> None:
        with pytest.raises(UsageError, match=said):
            await SealedSandbox.sample_init("t", config, {})

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("wall_s = nan", "wall_s"),
            ("disk = 3", "disk"),
            ("disk_mib = 'x'", "disk_mib"),
            ("=", "limits.toml"),
        ],
    )
    async def test_a_file_with_wrong_values_is_refused_by_field(
        self, tmp_path: Path, text: str, said: str, anyio_backend: str
    ) -> None:
        path = tmp_path / "limits.toml"
        path.write_text(text)
        with pytest.raises(UsageError, match=said):
            await SealedSandbox.sample_init("t", str(path), {})


@pytest.mark.filterwarnings("default::DeprecationWarning", "default::pytest.PytestWarning")
def test_an_evaluation_uses_it_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @solver
    def works():
        async def solve(state, generate):
            await sandbox().exec(["sh", "-c", "cat given.txt made.txt > both.txt"])
            return state

        return solve

    @scorer(metrics=[accuracy()])
    def looks():
        async def score(state, target):
            return Score(value=float(await sandbox().read_file("both.txt") == "ab"))

        return score

    (tmp_path / "limits.toml").write_text("wall_s = 30\n")
    setup = "#!/bin/sh\nprintf b > made.txt\n"
    samples = [Sample(input="p", files={"given.txt": "a"}, setup=setup) for _ in range(3)]
    for backend in ("asyncio", "trio"):
        monkeypatch.setenv("INSPECT_ASYNC_BACKEND", backend)
        for spec in ("unhack", ("unhack", str(tmp_path / "limits.toml"))):
            task = Task(samples, solver=works(), scorer=looks(), sandbox=spec)
            [log] = eval(task, model="mockllm/model", display="none", log_dir=str(tmp_path))
            assert log.status == "success", log.error
            assert log.results.scores[0].metrics["accuracy"].value == 1.0
    assert not [one for one in threading.enumerate() if one.name == "unhack-machines"]


def test_a_config_survives_its_log() -> None:
    config = SealedSandboxConfig(disk_mib=64)
    spec = SandboxEnvironmentSpec("unhack", config)
    assert SandboxEnvironmentSpec.model_validate(spec.model_dump()).config == config
