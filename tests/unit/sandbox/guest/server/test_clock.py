from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from unhack.sandbox.guest.server import clock

BEGIN = datetime.datetime(2025, 1, 1)


def frozen(code: str) -> str:
    """What `code` prints in a fresh interpreter whose clock is frozen."""
    program = f"from unhack.sandbox.guest.server import clock\nclock.freeze()\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class TestInAJob:
    @pytest.mark.parametrize(
        "expression",
        [
            "time.time()",
            "time.time_ns() / 1e9",
            "datetime.datetime.now(datetime.timezone.utc).timestamp()",
            "datetime.datetime.utcnow().replace(tzinfo=datetime.timezone.utc).timestamp()",
            "datetime.datetime.today().timestamp()",
            "calendar.timegm(time.gmtime())",
            "calendar.timegm(time.localtime())",
            "calendar.timegm(time.strptime(time.ctime()))",
            "calendar.timegm(time.strptime(time.strftime('%Y %j'), '%Y %j')) + 1",
        ],
    )
    def test_every_way_to_ask_begins_at_the_same_instant(
        self, evaluate: Callable[..., Any], expression: str
    ) -> None:
        source = f"import calendar, datetime, time\ndef f(): return {expression}"
        # The worker's clock goes on, so a worker of an hour ago still shows the first of January.
        assert 0 <= evaluate(source) - clock.START < 86_400

    def test_today_is_the_first_of_january(self, evaluate: Callable[..., Any]) -> None:
        source = "import datetime\ndef f(): return str(datetime.date.today())"
        assert evaluate(source) == "2025-01-01"

    def test_the_time_zone_is_utc(self, evaluate: Callable[..., Any]) -> None:
        source = "import time\ndef f(): return [time.tzname[0], time.timezone]"
        assert evaluate(source) == ["UTC", 0]

    def test_random_numbers_are_the_same_in_every_job(self, evaluate: Callable[..., Any]) -> None:
        source = "import random\ndef f(): return [random.random() for _ in range(3)]"
        assert evaluate(source) == evaluate(source) == evaluate(source)

    def test_strings_hash_the_same_in_every_job(self, evaluate: Callable[..., Any]) -> None:
        source = "def f(): return hash('text'), list({'a', 'b', 'c', 'd'})"
        assert evaluate(source) == evaluate(source) == evaluate(source)

    @pytest.mark.slow
    def test_numpy_draws_are_the_same_in_every_job(self, evaluate: Callable[..., Any]) -> None:
        from unhack.sandbox.job import Profile

        pytest.importorskip("numpy")
        source = "import numpy\ndef f(): return numpy.random.rand(3).tolist()"
        profile = Profile(preload=("numpy",))
        assert evaluate(source, profile=profile) == evaluate(source, profile=profile)


class TestFreeze:
    def test_the_clock_starts_at_its_start_and_advances(self) -> None:
        before, after = map(
            float,
            frozen("import time\na = time.time()\ntime.sleep(0.05)\nprint(a, time.time())").split(),
        )
        assert clock.START <= before < before + 0.04 < after

    def test_calls_that_are_given_a_time_are_untouched(self) -> None:
        assert frozen("import time; print(time.gmtime(0).tm_year, time.ctime(0))") == (
            "1970 Thu Jan  1 00:00:00 1970"
        )
        assert frozen("import time; print(time.strftime('%Y', time.gmtime(0)))") == "1970"

    def test_dates_stay_dates(self) -> None:
        checks = {
            "isinstance(datetime.datetime.now(), datetime.datetime)": True,
            "isinstance(datetime.datetime.now(), datetime.date)": True,
            "isinstance(datetime.date.today(), datetime.datetime)": False,
            "isinstance(datetime.datetime(2020, 1, 1), datetime.datetime)": True,
            "isinstance(3, datetime.date)": False,
            "issubclass(datetime.datetime, datetime.date)": True,
            "issubclass(datetime.date, datetime.datetime)": False,
            "datetime.datetime(2020, 1, 2) - datetime.datetime(2020, 1, 1)"
            " == datetime.timedelta(1)": True,
            "datetime.datetime(2020, 1, 1) + datetime.timedelta(1)"
            " == datetime.datetime(2020, 1, 2)": True,
            "datetime.datetime.fromisoformat('2020-01-01').year == 2020": True,
            "datetime.datetime.strptime('2020', '%Y') == datetime.datetime(2020, 1, 1)": True,
            "datetime.datetime.now() > datetime.datetime(2024, 12, 31)": True,
            "copy.deepcopy(datetime.datetime(2020, 1, 1)) == datetime.datetime(2020, 1, 1)": True,
            "datetime.date.today().isoformat() == '2025-01-01'": True,
            "len({datetime.date(2020, 1, 1), datetime.date(2020, 1, 1)}) == 1": True,
        }
        printed = frozen(f"import copy, datetime\nprint([{', '.join(checks)}])")
        assert printed == str(list(checks.values()))

    @pytest.mark.parametrize("base", ["date", "datetime"])
    def test_a_subclass_of_a_date_has_only_its_own_instances(self, base: str) -> None:
        code = (
            f"import datetime\nclass Mine(datetime.{base}): pass\n"
            f"print(isinstance(datetime.{base}(2020, 1, 1), Mine), "
            f"isinstance(Mine(2020, 1, 1), Mine), issubclass(datetime.{base}, Mine))"
        )
        assert frozen(code) == "False True False"

    def test_now_gives_exactly_a_datetime(self) -> None:
        code = (
            "import datetime\n"
            "print(type(datetime.datetime.now()) is datetime.datetime, "
            "type(datetime.date.today()) is datetime.date)"
        )
        assert frozen(code) == "True True"

    def test_dates_print_as_they_always_do(self) -> None:
        code = (
            "import datetime\n"
            "print(repr(datetime.datetime(2020, 1, 1)), [datetime.date(2020, 1, 1)])"
        )
        assert frozen(code) == "datetime.datetime(2020, 1, 1, 0, 0) [datetime.date(2020, 1, 1)]"

    def test_dates_survive_a_pickle(self) -> None:
        code = (
            "import datetime, pickle\nmoment = datetime.datetime(2020, 1, 2)\n"
            "print(pickle.loads(pickle.dumps(moment)) == moment)"
        )
        assert frozen(code) == "True"
