"""Regular expressions of the host, by file, with what keeps each short.

A pattern over a candidate's text is a `unhack.core.lines.BoundedPattern`, which sees a piece of a
line. Every other one stands here with the reason for which no candidate's text of any length
reaches it. Covered: `re` in every file of the engine, however it is imported. Not covered: what
runs in the sandbox (`sandbox/guest`), the auditor (`audit`), which works on its user's verifier and
on texts of its own, and expressions inside libraries.
"""

from __future__ import annotations

import ast
from pathlib import Path

from .source_roots import ROOT

ENGINE = ROOT / "src" / "unhack"
LEFT_OUT = ("audit/", "sandbox/guest/")

OURS = "a name, path, option, prompt or answer of the user's own"
HOST = "what the host's own system, driver or library says"
FIELD = "a field of a request, whose length is bounded before or by the pattern"
CUT = "a reason or a part of one, cut to some hundred characters when it was made"
RUNS = "each character starts or goes on one run; over the files of a workspace, which is bounded"
SPELLED = "an answer of at most MAX_SPELLED_CHARS"
NUMERAL = "an answer that is cut to a numeral's length first"

KNOWN: dict[str, tuple[int, str]] = {
    "agents/chat/dialect.py": (1, FIELD),
    "agents/command_line/host_files.py": (2, HOST),
    "agents/metering/prices.py": (1, OURS),
    "agents/metering/requests.py": (2, "a request of an agent, bounded; classes of characters"),
    "agents/proxy/asking.py": (1, "a request of an agent, bounded; one match at its beginning"),
    "agents/proxy/dialects.py": (5, FIELD),
    "agents/proxy/tunnel.py": (1, FIELD),
    "agents/registry.py": (1, OURS),
    "agents/scripted.py": (1, "messages to an agent of the tests; words of at most 80 characters"),
    "cli/demo/command.py": (1, HOST),
    "cli/score/page.py": (1, CUT),
    "core/lines.py": (1, "the bounded pattern itself"),
    "environments/sources/mining/commit_parts.py": (1, OURS),
    "environments/sources/mining/leaks.py": (1, OURS),
    "environments/sources/mining/miner.py": (1, OURS),
    "environments/sources/mining/report_plugin.py": (1, CUT),
    "environments/sources/mining/statement.py": (2, OURS),
    "environments/judges/handed_in.py": (
        4,
        "names of files, of at most 255 bytes, in a task's texts",
    ),
    "environments/sources/loaders/task_image.py": (2, "a task's own settings, bounded repeats"),
    "integrations/harbor/task_folder.py": (1, OURS),
    "models/programs.py": (2, "a program of at most a model's context"),
    "reporting/page.py": (1, "a page of our own"),
    "sandbox/gpu/card_queue.py": (2, HOST),
    "sandbox/gpu/cards.py": (1, OURS),
    "sandbox/gpu/driver_files.py": (2, HOST),
    "sandbox/images/build.py": (5, "the end of a builder's output, cut to 256 KB; bounded repeats"),
    "sandbox/workspace/git_objects.py": (3, OURS),
    "server/access/directory.py": (1, FIELD),
    "server/access/keys.py": (1, FIELD),
    "server/http/bodies.py": (1, FIELD),
    "server/http/idempotency.py": (1, FIELD),
    "server/routes/openapi.py": (1, OURS),
    "server/jobs/tournament_jobs.py": (1, FIELD),
    "server/observing/logs.py": (1, "a line of our log"),
    "server/pages/batch_figures.py": (2, CUT),
    "server/pages/sign_in.py": (1, FIELD),
    "server/pages/training_runs.py": (1, OURS),
    "server/pages/view.py": (1, FIELD),
    "server/routes/batches.py": (2, FIELD),
    "server/routes/jobs.py": (1, FIELD),
    "server/scoring/catalogue.py": (1, FIELD),
    "server/scoring/deadlines.py": (1, FIELD),
    "tasks/directory.py": (1, OURS),
    "tasks/execution/ray/cluster.py": (1, OURS),
    "tasks/settings.py": (4, OURS),
    "tournament/contests/own/inside/spy.py": (1, HOST),
    "tournament/contests/own/settings.py": (1, OURS),
    "tournament/contests/own/template.py": (1, OURS),
    "tournament/record/outcome.py": (1, OURS),
    "tournament/report/page.py": (1, "one match of at most 170 characters at the beginning"),
    "tournament/report/turns.py": (1, OURS),
    "tournament/review/canonical.py": (1, OURS),
    "tournament/round/lineup.py": (1, OURS),
    "training/discovery/answers.py": (3, OURS),
    "training/discovery/moves.py": (1, OURS),
    "training/experiment/results.py": (1, OURS),
    "training/worlds/leetcode/probe.py": (1, CUT),
    "training/worlds/programs/pairs.py": (2, OURS),
    "training/worlds/programs/vocabulary.py": (1, "a program of at most a model's context"),
    "training/worlds/tasks/sources.py": (1, CUT),
    "verifiers/answers/asked.py": (7, OURS),
    "verifiers/answers/equivalence.py": (3, SPELLED),
    "verifiers/answers/final_answer.py": (1, "at most 40 characters between two boxes"),
    "verifiers/answers/gold.py": (21, OURS),
    "verifiers/answers/intervals.py": (6, SPELLED),
    "verifiers/answers/letters.py": (8, SPELLED),
    "verifiers/answers/notation.py": (25, SPELLED),
    "verifiers/answers/numerals.py": (4, NUMERAL),
    "verifiers/answers/shape.py": (13, SPELLED),
    "verifiers/answers/spelling/latex.py": (21, SPELLED),
    "verifiers/answers/spelling/plain_numbers.py": (8, SPELLED),
    "verifiers/answers/spelling/style.py": (67, SPELLED),
    "verifiers/answers/spelling/symbols.py": (25, SPELLED),
    "verifiers/answers/spelling/words.py": (7, SPELLED),
    "verifiers/answers/statements.py": (17, SPELLED),
    "verifiers/answers/units.py": (6, SPELLED),
    "verifiers/canaries.py": (7, "the user's own verifier, pattern or answer"),
    "verifiers/stdio.py": (1, "a token of at most 100 bytes"),
    "verifiers/text.py": (5, "a choice of at most 200 characters, and the user's pattern"),
}
"""File -> how many expressions it holds, and what keeps them short."""
_USES = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
_MODULES = {"re", "regex", "re2"}


def patterns_in(source: str) -> int:
    """How many expressions a source makes or uses; an import that hides them counts as well."""
    count = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in _USES:
            count += isinstance(node.value, ast.Name) and node.value.id in _MODULES
        elif isinstance(node, ast.ImportFrom):
            count += (node.module in _MODULES) * len(node.names)
        elif isinstance(node, ast.Import):
            named = [one for one in node.names if one.name in _MODULES]
            count += sum(one.name != "re" or one.asname is not None for one in named)
    return count


def patterns_of_host(engine: Path = ENGINE) -> dict[str, int]:
    """File -> its number of expressions, for every file that has some."""
    found: dict[str, int] = {}
    for path in sorted(engine.rglob("*.py")):
        name = path.relative_to(engine).as_posix()
        count = 0 if name.startswith(LEFT_OUT) else patterns_in(path.read_text())
        if count:
            found[name] = count
    return found
