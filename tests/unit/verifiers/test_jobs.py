from __future__ import annotations

import base64
import json
import resource
import shutil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.sandbox.job import Ending, Kind, Profile, Role, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.verifiers import jobs


class TestMessages:
    def test_every_completion_gets_the_shared_part_and_its_own_source(self) -> None:
        limits = Limits(open_files=33)
        template = jobs.CallsTemplate("f", [[[1], {"k": 2}]], limits=limits, profile=Profile())
        for source in ("def f(): pass", 'quote " backslash \\ \ud800 \u2028 é'):
            job = template.job(source)
            message = json.loads(job.message)
            assert message["mode"] == "calls"
            assert message["entry"] == "f"
            assert message["calls"] == [[[1], {"k": 2}]]
            assert message["source"] == source
            assert message["each"] is False
            assert [resource.RLIMIT_NOFILE, 33] in message["rlimits"]
            assert job.limits == limits

    @given(st.text(st.characters(exclude_categories=())))
    def test_any_source_survives_the_message(self, source: str) -> None:
        template = jobs.CallsTemplate("f", [], limits=Limits(), profile=Profile())
        assert json.loads(template.job(source).message)["source"] == source

    def test_no_message_of_a_candidate_holds_more_than_it_was_given(self) -> None:
        template = jobs.CallsTemplate("f", [[[1], {}]], limits=Limits(), profile=Profile())
        assert set(json.loads(template.job("x").message)) == {
            "mode",
            "rlimits",
            "disk",
            "entry",
            "calls",
            "each",
            "source",
        }

    def test_a_judge_runs_as_a_judge_unless_told_otherwise(self) -> None:
        job = jobs.judge("check", {"source": "", "items": []}, limits=Limits())
        assert job.profile.role is Role.JUDGE

    def test_a_program_that_collects_files_may_send_more(self) -> None:
        limits = Limits(output_bytes=10, file_bytes=1000)
        assert jobs.program(["true"], limits=limits).limits.output_bytes == 10
        collecting = jobs.program(["true"], limits=limits, collect=("out",))
        assert collecting.limits.output_bytes == 2000


class TestResultLines:
    @given(st.binary(max_size=300))
    def test_any_bytes_give_only_lists_that_hold_something(self, data: bytes) -> None:
        assert all(isinstance(line, list) and line for line in jobs.result_lines(data))

    def test_lines_that_are_not_lists_are_dropped(self) -> None:
        data = b'[1]\n{"a": 1}\n\n[]\nnot json\n"text"\n[2, [3]]\n[4'
        assert jobs.result_lines(data) == [[1], [2, [3]]]

    @given(
        st.one_of(
            st.binary(max_size=60).map(lambda data: b"[" + data),
            st.recursive(
                st.none() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=6
            ).map(lambda value: json.dumps([value], ensure_ascii=False).encode("utf-16-le")),
            st.lists(st.floats() | st.text() | st.integers()).map(
                lambda value: json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass")
            ),
        )
    )
    def test_a_line_is_read_as_the_standard_parser_reads_it(self, line: bytes) -> None:
        try:
            expected = json.loads(line)
        except (ValueError, RecursionError):
            expected = None
        assert repr(jobs._parse_line(line)) == repr(expected)

    @pytest.mark.parametrize(
        "line",
        [b"[1] ", b" [1]", b"[1]x", b"[1][2]", b"[NaN]", b"\xef\xbb\xbf[1]", b"[", b"", b"[\x00"],
    )
    def test_a_line_with_more_or_less_than_a_value_is_read_so_too(self, line: bytes) -> None:
        try:
            expected = json.loads(line)
        except ValueError:
            expected = None
        assert repr(jobs._parse_line(line)) == repr(expected)

    def test_a_deep_line_hides_no_other(self) -> None:
        assert jobs.result_lines(b"[" * 200_000 + b"\n[1]\n") == [[1]]


def _program(*argv: str, **options: Any) -> Any:
    return jobs.program(list(argv), limits=Limits(wall_s=20), **options)


class TestPrograms:
    def test_files_are_there_with_their_content_and_mode(self, pool: Pool) -> None:
        files = {"run.sh": (b"#!/bin/sh\ncat data/in\n", 0o755), "data/in": (b"hello", 0o644)}
        outcome = run_one(pool, _program("./run.sh", files=files))
        assert outcome.stdout == b"hello"
        [line] = jobs.result_lines(outcome.result)
        assert line[:4] == [None, "exit", 0, 0]

    def test_the_exit_code_and_the_signal_are_the_commands_own(self, pool: Pool) -> None:
        outcome = run_one(pool, _program("sh", "-c", "exit 7"))
        assert jobs.result_lines(outcome.result)[0][2:4] == [7, 0]
        outcome = run_one(pool, _program("sh", "-c", "kill -SEGV $$"))
        assert jobs.result_lines(outcome.result)[0][2:4] == [-1, 11]

    def test_a_command_that_is_not_there_exits_with_127(self, pool: Pool) -> None:
        outcome = run_one(pool, _program("/no/such/command"))
        assert jobs.result_lines(outcome.result)[0][2] == 127
        assert b"/no/such/command" in outcome.stderr

    def test_standard_input_arrives_and_output_comes_apart(self, pool: Pool) -> None:
        outcome = run_one(pool, _program("sh", "-c", "cat; echo bad >&2", stdin=b"in"))
        assert (outcome.stdout, outcome.stderr) == (b"in", b"bad\n")

    def test_named_files_are_collected_and_others_are_not(self, pool: Pool) -> None:
        script = "echo kept > kept; echo other > other; ln -s kept link; mkfifo pipe"
        outcome = run_one(
            pool, _program("sh", "-c", script, collect=("kept", "link", "pipe", "absent"))
        )
        collected = {
            line[2]: base64.b64decode(line[3])
            for line in jobs.result_lines(outcome.result)
            if line[1] == "file"
        }
        assert collected == {"kept": b"kept\n"}

    def test_what_a_command_leaves_running_ends_with_the_job(self, pool: Pool) -> None:
        outcome = run_one(pool, _program("sh", "-c", "sleep 600 & echo started"))
        assert outcome.stdout == b"started\n"
        assert outcome.ending is Ending.EXITED

    def test_inputs_that_are_mounted_can_be_read_and_not_written(
        self, pool: Pool, tmp_path: Any
    ) -> None:
        (tmp_path / "in").write_text("given")
        tmp_path.chmod(0o755)
        script = "cat /data/in; echo x > /data/in || echo refused"
        job = _program("sh", "-c", script, binds=((str(tmp_path), "/data"),))
        assert run_one(pool, job).stdout == b"givenrefused\n"
        assert (tmp_path / "in").read_text() == "given"

    @pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
    def test_a_compiler_runs_in_the_sandbox(self, pool: Pool) -> None:
        source = b"int main(void) { return 5; }"
        job = _program("sh", "-c", "cc -o main main.c && ./main", files={"main.c": (source, 0o644)})
        assert jobs.result_lines(run_one(pool, job).result)[0][2] == 5

    def test_a_program_job_has_the_program_profile(self) -> None:
        assert _program("true").profile.kind is Kind.PROGRAM


class TestMain:
    def _run(self, pool: Pool, source: str, stdin: bytes = b"") -> Any:
        limits = Limits(wall_s=20)
        return run_one(pool, jobs.main(source, stdin=stdin, limits=limits, profile=Profile()))

    def test_it_runs_as_the_main_module_with_its_input(self, pool: Pool) -> None:
        source = "import sys\nif __name__ == '__main__': print(input()[::-1], sys.argv)\n"
        assert self._run(pool, source, b"abc\n").stdout == b"cba ['solution.py']\n"

    @pytest.mark.parametrize(
        ("source", "code"),
        [
            ("pass", 0),
            ("raise SystemExit", 0),
            ("import sys; sys.exit(3)", 3),
            ("import sys; sys.exit('bad')", 1),
            ("1 / 0", 1),
            ("def f(:", 1),
            ("import os; os._exit(9)", 9),
            ("import sys; sys.exit(256 + 4)", 4),
        ],
    )
    def test_exit_codes_are_those_of_python(self, pool: Pool, source: str, code: int) -> None:
        assert self._run(pool, source).exit_code == code

    def test_a_traceback_goes_to_standard_error(self, pool: Pool) -> None:
        outcome = self._run(pool, "print('before')\n1 / 0")
        assert outcome.stdout == b"before\n"
        assert b"ZeroDivisionError: division by zero" in outcome.stderr

    def test_exit_handlers_and_threads_end_before_the_program_does(self, pool: Pool) -> None:
        source = (
            "import atexit, threading, time\natexit.register(print, 'last')\n"
            "threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()\n"
        )
        assert self._run(pool, source).stdout == b"thread\nlast\n"

    def test_bytes_that_are_not_utf_8_come_back_as_they_went_in(self, pool: Pool) -> None:
        source = "import sys; sys.stdout.write(sys.stdin.read())"
        assert self._run(pool, source, b"\xff\xfe a \xc3\xa9").stdout == b"\xff\xfe a \xc3\xa9"
