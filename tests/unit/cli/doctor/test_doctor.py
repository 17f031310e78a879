from __future__ import annotations

from tests.unit.cli.conftest import Run


def test_the_quick_report_is_one_object_with_every_layer(run: Run) -> None:
    ran = run("doctor", "--quick", "--json")
    [report] = ran.objects
    assert ran.code == (0 if report["sound"] else 1)
    assert {"seccomp", "Landlock", "user namespace"} <= {item["name"] for item in report["layers"]}
    assert [backend["results"] for backend in report["backends"]] == [[], [], []]


def test_the_report_for_people_has_a_line_for_each_backend(run: Run) -> None:
    text = run("doctor", "--quick").out
    for name in ("namespaces", "landlock", "bubblewrap"):
        assert f"\n{name}" in text
