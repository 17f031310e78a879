"""The files of `examples/deploy`, by schema and parser, and run as far as no engine is needed."""

from __future__ import annotations

import io
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import dockerfile_parse
import kubernetes_validate
import pytest
import yaml
from typer.testing import CliRunner

from unhack.tasks.suite import find_task

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "examples" / "deploy"
pytestmark = pytest.mark.slow

_X86_64 = {
    "acct": 163, "bpf": 321, "delete_module": 176, "finit_module": 313, "init_module": 175,
    "ioperm": 173, "iopl": 172, "kexec_file_load": 320, "kexec_load": 246, "lookup_dcookie": 212,
    "open_by_handle_at": 304, "perf_event_open": 298, "quotactl": 179, "reboot": 169,
    "settimeofday": 164, "swapoff": 168, "swapon": 167, "syslog": 103, "userfaultfd": 323,
    "vhangup": 153,
}  # fmt: skip
"""The numbers of the calls that the profile denies; unhack's own table has no use for them."""
_UNDER_THE_PROFILE = """
import ctypes, json, sys
from unhack.sandbox.linux import calls, seccomp
numbers = json.loads(sys.argv[1])
seccomp.TABLES[seccomp.machine()] = {**seccomp.TABLES[seccomp.machine()], **numbers}
calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
seccomp.build_denylist(tuple(numbers)).load()
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(numbers["userfaultfd"], 0) == -1 and ctypes.get_errno() == 1
from unhack import run_batch
from unhack.sandbox.job import Isolation
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.suite import find_task
task = find_task("parsing/seat-ranges")
pool = Pool(slots=1, isolation=Isolation.NAMESPACES)
[verdict] = run_batch(task, [task.problem.reference], backend=pool).verdicts
pool.close()
print(verdict.status, verdict.isolation)
"""


def _manifest() -> dict[str, object]:
    return yaml.safe_load((DEPLOY / "kubernetes.yaml").read_text())


def _all() -> list[dict[str, object]]:
    texts = [(DEPLOY / name).read_text() for name in ("kubernetes.yaml", "kubernetes-serve.yaml")]
    return [each for text in texts for each in yaml.safe_load_all(text)]


@pytest.mark.parametrize("manifest", _all(), ids=lambda each: each["kind"])
def test_the_manifest_is_valid_by_the_schema_of_kubernetes(manifest: dict[str, object]) -> None:
    kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)


def test_the_server_of_the_manifest_starts_with_its_words_and_has_routes_for_its_probes() -> None:
    from unhack.cli.app import app
    from unhack.server.app import ROUTES

    _, service, deployment = _all()
    pod = deployment["spec"]["template"]["spec"]  # type: ignore[index]
    [container] = pod["containers"]
    words = [word for word in container["args"] if word.startswith("--")]
    listed = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).output
    assert container["args"][0] == "serve"
    assert all(word in listed for word in words)
    open_ones = {route.path for route in ROUTES if route.open}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] in open_ones
    assert deployment["spec"]["replicas"] == 1  # type: ignore[index]
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}  # type: ignore[index]
    labels = deployment["spec"]["template"]["metadata"]["labels"]  # type: ignore[index]
    assert service["spec"]["selector"] == labels  # type: ignore[index]
    assert pod["terminationGracePeriodSeconds"] > 30 + 3


def test_a_wrong_manifest_is_refused_by_the_same_check() -> None:
    manifest = _manifest()
    manifest["spec"]["template"]["spec"]["containerz"] = []  # type: ignore[index]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)


def test_no_container_of_the_manifest_is_privileged() -> None:
    pods = [each["spec"]["template"]["spec"] for each in _all() if each["kind"] != "Service"]  # type: ignore[index]
    containers = [one for pod in pods for one in [*pod["initContainers"], *pod["containers"]]]
    assert len(containers) == 4
    for container in containers:
        context = container["securityContext"]
        assert not context["privileged"]
        assert not context["allowPrivilegeEscalation"]
        assert context["seccompProfile"]["localhostProfile"] == "unhack.json"


def test_the_recipe_parses_copies_what_exists_and_ends_as_no_root() -> None:
    parser = dockerfile_parse.DockerfileParser(
        fileobj=io.BytesIO((DEPLOY / "Containerfile").read_bytes())
    )
    steps = [(step["instruction"], step["value"]) for step in parser.structure]
    for kind, value in steps:
        if kind == "COPY":
            for name in value.split()[:-1]:
                assert (ROOT / name).exists(), name
    assert [value for kind, value in steps if kind == "USER"] == ["10001"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86_64")
def test_namespaces_work_under_what_the_profile_denies() -> None:
    [rule] = json.loads((DEPLOY / "seccomp.json").read_text())["syscalls"]
    numbers = json.dumps({name: _X86_64[name] for name in rule["names"]})
    command = [sys.executable, "-c", _UNDER_THE_PROFILE, numbers]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    assert done.stdout.split() == ["passed", "namespaces"]


def _submit(folder: Path, array: list[int], *, count: int) -> list[int]:
    """The exit codes of the tasks of an array, run one after the other, on the rows of a folder."""
    script = DEPLOY / "score_array.sbatch"
    codes: list[int] = []
    for share in array:
        places = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "SLURM_ARRAY_TASK_ID": str(share),
            "SLURM_ARRAY_TASK_COUNT": str(count),
            "SLURM_ARRAY_TASK_MIN": str(min(array)),
            "SLURM_ARRAY_TASK_MAX": str(max(array)),
            "SLURM_CPUS_PER_TASK": "1",
        }
        command = ["bash", script, "parsing/seat-ranges", folder / "rows.jsonl", folder / "out"]
        environment = {**os.environ, **places}
        codes.append(subprocess.run(command, env=environment, timeout=300, check=False).returncode)
    return codes


def _judged(folder: Path, share: int) -> int:
    """The verdicts of a share, all of which passed."""
    lines = (folder / "out" / str(share) / "verdicts.jsonl").read_text().splitlines()
    assert all(json.loads(line)["status"] == "passed" for line in lines)
    return len(lines)


@pytest.fixture
def five_rows(tmp_path: Path) -> Path:
    """A folder with five rows."""
    subprocess.run(["bash", "-n", DEPLOY / "score_array.sbatch"], check=True)
    right = find_task("parsing/seat-ranges").problem.reference
    rows = [{"completion": f"{right}\n# {number}\n"} for number in range(5)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_the_slurm_script_scores_each_share_and_goes_on_when_run_again(five_rows: Path) -> None:
    for _ in range(2):
        assert _submit(five_rows, [0, 1], count=2) == [0, 0]
        assert [_judged(five_rows, share) for share in (0, 1)] == [2, 3]


def test_a_share_that_is_submitted_alone_keeps_its_rows(five_rows: Path) -> None:
    assert _submit(five_rows, [0, 1], count=2) == [0, 0]
    assert _submit(five_rows, [1], count=1) == [0]
    assert [_judged(five_rows, share) for share in (0, 1)] == [2, 3]
    assert _submit(five_rows, [2], count=1) == [2]


def test_an_array_that_would_leave_rows_out_is_refused(five_rows: Path) -> None:
    assert _submit(five_rows, [1, 2], count=2) == [2, 2]
    assert _submit(five_rows, [0, 3], count=2) == [2, 2]
    assert not (five_rows / "out" / "shares").exists()


def test_shares_beyond_the_rows_are_empty(five_rows: Path) -> None:
    assert _submit(five_rows, list(range(7)), count=7) == [0] * 7
    assert sum(_judged(five_rows, share) for share in range(7)) == 5


def test_every_pod_with_a_volume_may_write_to_it() -> None:
    pods = [each["spec"]["template"]["spec"] for each in _all() if each["kind"] != "Service"]  # type: ignore[index]
    assert pods
    for pod in pods:
        users = {one["securityContext"]["runAsUser"] for one in pod["containers"]}
        assert users == {pod["securityContext"]["fsGroup"]}
