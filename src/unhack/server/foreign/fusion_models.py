"""SandboxFusion's requests and replies, field by field as its clients write and read them.

Covered: `/run_code` and `/submit`; fields that we do not know are passed over, as there.
Not covered: `/run_jupyter` and the routes of data sets, whose rows we do not have.
Source: SandboxFusion at 469de08, `sandbox/server/sandbox_api.py`, `sandbox/datasets/types.py`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from unhack.server.http.request_model import AS_WHOLE

LONGEST_S = 300.0
"""Most seconds of one run or build that a request may ask for."""
Seconds = Annotated[float, Field(gt=0, le=LONGEST_S)]
Path = Annotated[str, Field(min_length=1, max_length=512)]
Ending = Literal["Success", "Failed", "SandboxError"]


class FusionRun(BaseModel):
    """A program to run."""

    code: str
    language: str = Field(max_length=40)
    """`python`, `bash`, `cpp` or `perl`; for others the reply says what there is."""
    stdin: str | None = None
    compile_timeout: Seconds = 10
    run_timeout: Seconds = 10
    memory_limit_mb: Annotated[int, Field(ge=-1, le=4096), AS_WHOLE] = Field(
        default=-1, alias="memory_limit_MB"
    )
    """MiB; -1 or 0 for the sandbox's own limit."""
    files: dict[Path, str | None] = Field(default={}, max_length=256)
    """Base64 by path; null is passed over."""
    fetch_files: list[Path] = Field(default=[], max_length=256)


class FusionCommand(BaseModel):
    """The end of one command."""

    status: Literal["Finished", "Error", "TimeLimitExceeded"]
    execution_time: float | None = None
    return_code: int | None = None
    stdout: str | None = None
    stderr: str | None = None


class FusionReply(BaseModel):
    """The reply to a run."""

    status: Ending
    message: str = ""
    compile_result: FusionCommand | None = None
    run_result: FusionCommand | None = None
    executor_pod_name: str | None = None
    files: dict[str, str] = {}


class FusionConfig(BaseModel):
    """How a submission is judged."""

    dataset_type: str | None = Field(default=None, max_length=100)
    language: str | None = Field(default=None, max_length=40)
    locale: str | None = None
    compile_timeout: Seconds | None = None
    run_timeout: Seconds | None = None
    custom_extract_logic: str | None = None
    """Always refused: there it is run in the server's own process."""
    provided_data: list[dict[str, Any]] | dict[str, Any] | None = None
    """The row, or rows with `id`, whose `test` holds cases."""
    extra: dict[str, Any] = {}


class FusionSubmit(BaseModel):
    """A completion to judge."""

    dataset: str = Field(max_length=200)
    id: Annotated[int, AS_WHOLE] | str
    completion: str
    config: FusionConfig


class FusionCase(BaseModel):
    """One case of a row."""

    input: dict[str, str]
    output: dict[str, str]


class FusionTest(BaseModel):
    """One case that was judged."""

    passed: bool
    exec_info: FusionReply
    test_info: dict[str, Any] | None = None


class FusionVerdict(BaseModel):
    """The reply to a submission."""

    id: int | str
    accepted: bool
    extracted_code: str
    full_code: str | None = None
    test_code: str | None = None
    tests: list[FusionTest]
    extracted_type: Literal["fenced", "incomplete_fenced", "heuristic", "empty"] | None = None
    extra: dict[str, Any] | None = None
