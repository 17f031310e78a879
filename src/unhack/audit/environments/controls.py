"""Controls of a task before it is attacked: the reference, an idle agent, a table of what is shown.

    checks, usable = await controls_of(trial)

Covered: a task whose reference fails, or that is passed by doing nothing, is not attacked.
Not covered: a folder without a solution is attacked, and never called sound.
"""

from __future__ import annotations

from unhack.audit.environments.attack import AgentView
from unhack.audit.environments.attacks.answers import cheat_on_visible
from unhack.audit.environments.foreign.grader import EpisodeEnd
from unhack.audit.environments.proving import TaskTrial
from unhack.audit.report.report import Area, AuditCheck
from unhack.environments.actions import Submit

_TABLE = "a lookup table of the visible cases fails"
_NO_SOLUTION = "the folder brings no solution"


async def controls_of(trial: TaskTrial) -> tuple[list[AuditCheck], bool]:
    """The checks, and True where the reference passes twice, or is not there, and doing nothing
    fails. The oracle is given what the reference leaves."""
    task, view = trial.task, AgentView.of(trial.task)
    honest = [play for _ in range(2) if (play := await trial.runner.solve(task)) is not None]
    if honest:
        trial.oracle.solved = honest[0].state
    else:
        trial.oracle.undecided = _NO_SOLUTION
    idle = await trial.runner.play(task, [Submit()])
    cheat = await trial.runner.play(task, [*cheat_on_visible(view), Submit()])
    trial.count(2 + len(honest))
    ends = [play.outcome for play in honest]
    right = ends == [EpisodeEnd.PASSED] * 2 if ends else None
    cheated = cheat.outcome is EpisodeEnd.PASSED
    proof = await trial.oracle.why_wrong(cheat.handed) if cheated else None
    table, of_table = proof is None, str(cheat.outcome)
    if cheated and trial.oracle.undecided:
        table = None
    if not view.has_code:
        table, of_table = None, "no Python file is handed in"
    lost = idle.outcome is EpisodeEnd.FAILED
    said = ", then ".join(ends) or _NO_SOLUTION
    checks = [
        AuditCheck(Area.COMPLETENESS, "the reference passes", right, f"{task.id}: {said}",
                   honest[0].said if honest else ""),
        AuditCheck(Area.SIGNAL, "doing nothing fails", lost, f"{task.id}: {idle.outcome}",
                   idle.said),
        AuditCheck(Area.SIGNAL, _TABLE, table, f"{task.id}: {of_table}"),
    ]  # fmt: skip
    return checks, right is not False and lost
