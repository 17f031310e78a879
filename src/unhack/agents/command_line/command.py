"""A command-line agent at work: its processes in a sandbox, its model behind a proxy.

Covered: the key never enters the workspace; no network but the proxy; time and cost limits end the
whole tree of processes; what it prints is on disk as it comes; its clock stands still while
somebody measures time; the declared files of its workspace, and no link or device, come back.
Not covered: an agent with `key_variable` holds its own key and talks to its own service: it plays
only where the option `key_inside=yes` allows that, and its cost is what it says itself.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from unhack.agents import check
from unhack.agents.adapter import Adapter, fill
from unhack.agents.command_line import host_files
from unhack.agents.command_line.host_files import WantedFiles
from unhack.agents.command_line.transcript import Recorder, note_usage
from unhack.agents.events.formats import PARSERS
from unhack.agents.events.tally import EventTally, read_line
from unhack.agents.metering.meter import CostMeter, Prices, load_prices
from unhack.agents.options import Options
from unhack.agents.play import (
    AgentTree,
    AgentUsage,
    Assignment,
    AttemptClock,
    HostFiles,
    Play,
    PlayEnding,
    WorkFiles,
)
from unhack.agents.proxy.dialects import PROVIDERS, Provider
from unhack.agents.proxy.tunnel import Tunnel
from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.gpu.tree_card import TreeCard, watched, with_card
from unhack.sandbox.limits import MIB
from unhack.sandbox.workspace.process_tree import ProcessTreePlan

if TYPE_CHECKING:
    from unhack.agents.proxy.server import Proxy

PROXY_PORT, TUNNEL_PORT = 8080, 8081
_LOOK_S = 0.2
_LAST_WORDS_S = 15.0
"""How long an agent may go on after its cost limit refused a request."""
_READ_S = 10.0
_LAST_LINES = 4
"""Of what an agent said before it failed."""


@dataclass(frozen=True, slots=True)
class CommandAgent:
    """One adapter with its options; `make_command_agent` of `registry` builds it."""

    name: str
    adapter: Adapter
    options: Options
    wanted: WantedFiles
    files: HostFiles
    """Of this machine."""
    provider: Provider | None
    key: str
    prices: Prices

    def play(self, assignment: Assignment) -> Play:
        """Run the agent until it ends or a limit ends it.

        Raises UsageError, SandboxUnavailableError where this host cannot wall it in, SandboxError,
        and what a tree of another machine raises when that is lost.
        """
        # starlette, uvicorn and httpx: only a command-line agent needs them
        from unhack.agents.proxy.server import Account, Proxy

        assignment.transcript.mkdir(parents=True, exist_ok=True)
        token = secrets.token_urlsafe(32)
        limit = assignment.cost_limit_usd if assignment.cost_limit_usd > 0 else float("inf")
        meter = CostMeter(self.prices, limit, assignment.transcript / "costs.jsonl")
        providers = {self.provider.name: self.provider} if self.provider else {}
        account = Account(token, meter, providers, dict.fromkeys(providers, self.key))
        tree = assignment.tree(self._command(assignment, token), self._plan(assignment, token))
        proxy = Proxy(account, check=lambda: check.answer_check(assignment, tree))
        with contextlib.ExitStack() as stack:
            clock = assignment.start_clock()
            stack.enter_context(tree)
            stack.enter_context(assignment.hold(tree))
            stack.enter_context(watched(tree, self.card(assignment.device)))
            stack.enter_context(proxy)
            proxy.serve(tree.listeners[0])
            if self.adapter.hosts:
                tunnel = stack.enter_context(Tunnel(self.adapter.hosts))
                tunnel.serve(tree.listeners[1])
            turn = _Turn(assignment, tree, proxy, clock, self.adapter.events)
            try:
                ended = turn.watch()
            except BaseException:
                proxy.close()
                turn.note()  # what it has cost is known to whoever sets it to work again
                raise
            tree.kill()
            tree.wait(timeout_s=_READ_S)
            proxy.close()  # what is under way is charged before the sum is told
            turn.finish()
            note = turn.why(ended)
            missing = collect(assignment, tree)
        notes = [part for part in (note, missing) if part]
        return Play(ended, turn.usage(), "; ".join(notes))

    def _values(self, assignment: Assignment, token: str) -> dict[str, str]:
        return {
            "prompt": assignment.prompt,
            "model": self.options.model or self.adapter.model,
            "url": f"http://127.0.0.1:{PROXY_PORT}",
            "tunnel": f"http://127.0.0.1:{TUNNEL_PORT}",
            "token": token,
            "key": self.key if self.adapter.key_variable else "",
        }

    def _command(self, assignment: Assignment, token: str) -> list[str]:
        values = self._values(assignment, token)
        words = list(self.adapter.arguments)
        if values["model"]:
            at = words.index("{prompt}") if "{prompt}" in words else len(words)
            if at and words[at - 1] == "-p":
                at -= 1
            words[at:at] = self.adapter.model_arguments
        words += shlex.split(self.options.args)
        return [(assignment.files or self.files).program, *(fill(word, values) for word in words)]

    def _plan(self, assignment: Assignment, token: str) -> ProcessTreePlan:
        values = self._values(assignment, token)
        files = assignment.files or self.files
        path = (
            "/home/agent/bin", *files.path, os.path.dirname(files.python),
            "/usr/local/bin", "/usr/bin", "/bin",
        )  # fmt: skip
        script = check.SCRIPT.format(python=files.python, port=PROXY_PORT, token=token)
        home = {name: fill(text, values).encode() for name, text in self.adapter.home.items()}
        packages, places = files.packages, [host_files.PACKAGES]
        if assignment.packages is not None:
            packages = (*packages, (str(assignment.packages), host_files.WANTED))
            places.insert(0, host_files.WANTED)
        plan = ProcessTreePlan(
            environ={
                "PATH": ":".join(dict.fromkeys(path)),
                "PYTHONPATH": ":".join(places),
                "PYTHONDONTWRITEBYTECODE": "1",
                "NO_PROXY": "127.0.0.1,localhost",
                "no_proxy": "127.0.0.1,localhost",
                **{name: fill(text, values) for name, text in self.adapter.environ.items()},
                **self.options.environ,
            },
            binds=tuple(dict.fromkeys((*files.binds, *packages))),
            workspace=read_workspace(assignment.workspace),
            home={**home, "bin/unhack-check": script.encode()},
            stdin=b"",
            ports=(PROXY_PORT, TUNNEL_PORT) if self.adapter.hosts else (PROXY_PORT,),
            memory_bytes=self.options.memory_mib * MIB,
            disk_bytes=self.options.disk_mib * MIB,
            processes=self.options.processes,
            processors=self.options.cpus,
        )
        return with_card(plan, self.card(assignment.device))

    def card(self, device: str) -> TreeCard | None:
        """Its share of a card (`cuda`, `cuda:N`); None for no device."""
        return TreeCard(device, self.options.card_mib * MIB) if device else None


class _Turn:
    """One process tree at work."""

    def __init__(
        self,
        assignment: Assignment,
        tree: AgentTree,
        proxy: Proxy,
        clock: AttemptClock,
        events: str,
    ) -> None:
        self.assignment, self.tree, self.proxy, self.clock = assignment, tree, proxy, clock
        self.meter: CostMeter = proxy.account.meter
        self.tally = EventTally()
        parser = PARSERS[events]
        self.recorders = [
            Recorder(
                tree.stdout,
                assignment.transcript / "stdout.jsonl",
                on_line=lambda line: read_line(line, parser, self.tally),
            ),
            Recorder(tree.stderr, assignment.transcript / "stderr.txt", on_line=lambda line: None),
        ]
        self._noted = AgentUsage()
        self._seconds = 0.0

    def watch(self) -> PlayEnding:
        """Until it has ended, or must; how."""
        while not self.tree.wait(timeout_s=_LOOK_S):
            self.note()
            if self.clock.elapsed_s() >= self.assignment.time_limit_s:
                return PlayEnding.TIME
            refused = self.meter.refused_at
            if refused and time.monotonic() - refused > _LAST_WORDS_S:
                break
        if self.meter.refused_at:
            return PlayEnding.COST
        departure = self.tree.exit_status
        good = departure is not None and departure.exit_code == 0
        return PlayEnding.FINISHED if good else PlayEnding.FAILED

    def finish(self) -> None:
        """After its death: the last of its output."""
        for recorder in self.recorders:
            recorder.join(_READ_S)
        self.note()
        if self.proxy.failures:
            told = "\n".join(self.proxy.failures) + "\n"
            (self.assignment.transcript / "proxy.txt").write_text(told)

    def usage(self) -> AgentUsage:
        """Up to now. Tokens and cost are the proxy's, where it stands in between."""
        tokens = self.meter.tokens()
        proxied = bool(self.proxy.account.providers)
        inputs = tokens.input + tokens.cache_read + tokens.cache_write
        elapsed = self.clock.elapsed_s()
        self._seconds = elapsed if elapsed < float("inf") else self._seconds
        return AgentUsage(
            turns=self.tally.turns or self.meter.requests,
            input_tokens=inputs if proxied else self.tally.input_tokens,
            output_tokens=tokens.output if proxied else self.tally.output_tokens,
            tool_calls=self.tally.tool_calls,
            checks=self.proxy.checks,
            cost_usd=self.meter.spent_usd if proxied else self.tally.cost_usd,
            seconds=round(self._seconds, 3),
        )

    def note(self) -> None:
        """Write down what it has cost, where that has changed."""
        usage = self.usage()
        # after a kill nobody learns what the requests under way cost
        usage = replace(usage, cost_usd=usage.cost_usd + self.meter.reserved_usd)
        counted = (usage.turns, usage.cost_usd, usage.tool_calls, usage.checks)
        noted = self._noted
        if counted != (noted.turns, noted.cost_usd, noted.tool_calls, noted.checks):
            note_usage(self.assignment.transcript, usage)
            self._noted = usage

    def why(self, ended: PlayEnding) -> str:
        """In words, once all its output is there; empty for one that just finished."""
        if ended is PlayEnding.FINISHED:
            return ""
        if ended is PlayEnding.TIME:
            return f"stopped after {self.assignment.time_limit_s:g} s"
        if ended is PlayEnding.COST:
            spent, limit = self.meter.spent_usd, self.meter.limit_usd
            next_one = f"; the next request may cost {self.meter.refused_usd:.2g}"
            told = next_one if self.meter.refused_usd else ""
            return f"the cost limit of {limit:g} dollars leaves too little: {spent:.2g} spent{told}"
        if self.tree.failure:
            return self.tree.failure
        code = self.tree.exit_status.exit_code if self.tree.exit_status else None
        way = "was killed" if code is None else f"ended with code {code}"
        last = self.recorders[1].tail.strip() or self.recorders[0].tail.strip()
        lines = last.decode(errors="replace").splitlines()[-_LAST_LINES:]
        words = self.tally.error or " / ".join(line.strip() for line in lines if line.strip())
        return f"it {way}: {words}" if words else f"it {way}"


def read_workspace(workspace: Path) -> WorkFiles:
    """The regular files of a workspace on the host."""
    files: dict[str, bytes] = {}
    for path in sorted(workspace.rglob("*")):
        if path.is_file() and not path.is_symlink():
            files[path.relative_to(workspace).as_posix()] = path.read_bytes()
    return files


def collect(assignment: Assignment, tree: AgentTree) -> str:
    """Replace the workspace on the host by what the agent handed in; what is missing."""
    handed_in = assignment.handed_in
    files = check.snapshot(tree, handed_in)
    for path in assignment.workspace.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    for name, content in files.items():
        path = assignment.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    absent = [name for name in handed_in.required if name not in files]
    if (handed_in.excused_by and handed_in.excused_by in files) or not absent:
        return ""
    return f"no regular file {', '.join(absent)} at the end"


def find_key(adapter: Adapter, provider: Provider | None, options: Options) -> str:
    """The key of the agent's provider, from this process's environment. Raises UsageError."""
    names: tuple[str, ...] = provider.key_variables if provider else ()
    if adapter.key_variable:
        if not options.key_inside:
            raise UsageError(
                f"{adapter.title} talks to its own service only: its key cannot be kept out of its "
                "workspace, nor its cost be limited. Allow that with the option "
                f"{adapter.name}.key_inside=yes"
            )
        names = (adapter.key_variable,)
    if options.key_env:
        names = (options.key_env,)
    if not names:
        return ""
    for name in names:
        if os.environ.get(name):
            return os.environ[name]
    raise UsageError(f"{adapter.title} needs a key: set {' or '.join(names)}")


def find_provider(adapter: Adapter, options: Options) -> Provider | None:
    """The provider of an agent's model; None for no provider. Raises UnknownNameError."""
    name = options.provider or adapter.provider
    if not name:
        return None
    if name not in PROVIDERS:
        raise UnknownNameError("provider", name, valid=PROVIDERS)
    known = PROVIDERS[name]
    return Provider(name, known.dialect, options.upstream or known.url, known.key_variables)


def make(
    name: str, adapter: Adapter, options: Options, *, words: tuple[str, ...] = ()
) -> CommandAgent:
    """An agent of an adapter; files that `words` name are shown to it. Raises UsageError for what
    is missing here."""
    names = (options.path,) if options.path else adapter.executables
    wanted = WantedFiles(names, adapter.install, words, options.binds)
    files = wanted.find()
    provider = find_provider(adapter, options)
    key = find_key(adapter, provider, options)
    prices = load_prices(Path(options.prices) if options.prices else None)
    return CommandAgent(name, adapter, options, wanted, files, provider, key, prices)
