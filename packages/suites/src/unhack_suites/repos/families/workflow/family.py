"""Workflows: machines read from text, conditions on values, items with a history."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick

_SETTINGS = (
    ("claim", "Claim", "new checked paid closed lost", "check pay close reopen lose"),
    ("parcel", "Parcel", "packed sent arrived stored gone", "send arrive store fetch miss"),
    ("article", "Article", "draft review ready online old", "submit accept publish revise retire"),
    ("ticket", "Ticket", "open active fixed done spam", "take solve confirm return junk"),
)


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="MachineError FlowError DefinitionError",
        read_machine="read_machine parse_machine machine_of", add="add add_step connect",
        choices="choices allowed possible", assign="assign set_value change",
        step="step advance take", steps="steps advance_all take_all", undo="undo take_back revert",
        redo="redo take_again replay", path_to="path_to way_to shortest",
        amount="amount level weight",
    )  # fmt: skip
    words["item"], words["Item"], words["state_names"], words["step_names"] = rng.choice(_SETTINGS)
    words["step_example"] = words["step_names"].split()[2]
    words["package"] = draw_name(rng, "flow state steps machine")
    words["summary"] = f"State machines for {words['item']}s, written as text."
    words["purpose"] = f"to keep track of {words['item']}s"
    return words


def _text(rng: Random, w: Words) -> tuple[str, list[str], list[str], int]:
    """A definition, its states, its steps and the amount that its condition asks for."""
    s, n = w.state_names.split(), w.step_names.split()
    least = rng.randrange(4, 60)
    lines = [
        f"{n[0]}: {s[0]} -> {s[1]}",
        f"{n[1]}: {s[1]} -> {s[2]} if {w.amount} >= {least}",
        f"{n[1]}: {s[1]} -> {s[0]} set {w.amount}={least} tries=1",
        f"{n[2]}: {s[2]} -> {s[3]} if {w.amount} < {least * 3} and kind = {rng.choice('xyz')}",
        f"{n[3]}: {s[3]} -> {s[1]}",
        f"{n[4]}: * -> {s[4]}",
        f"{n[4]}: {s[3]} -> {s[0]} set {w.amount}=0",
    ]
    return "\n".join(lines), s, n, least


def _definitions(rng: Random, w: Words) -> Cases:
    text, s, n, least = _text(rng, w)
    fill = (f"machine = {w.read_machine}({text!r})",)
    ask = f"machine.{w.choices}"
    x = rng.randrange(100)
    case = Topic("definitions", fill).case
    yield case(
        "states_come_in_order",
        "States are known in order of appearance; the first one is the start.",
        "? machine.states()", "? machine.start",
        f"machine.{w.add}('{n[0]}{x}', '{s[0]}', 'state{x}')", "? machine.states()[-2:]",
    )  # fmt: skip
    yield case(
        "conditions_decide", "All parts of a condition have to hold; a missing value meets none.",
        f"? {ask}('{s[2]}', {{'{w.amount}': {least * 3 - 1}, 'kind': 'x'}})",
        f"? {ask}('{s[2]}', {{'{w.amount}': {least * 3}, 'kind': 'y'}})",
        f"? {ask}('{s[2]}', {{'{w.amount}': {least}, 'kind': 'z'}})",
        f"? {ask}('{s[2]}', {{'kind': 'y'}})",
        f"? {ask}('{s[2]}', {{'{w.amount}': {least - 1}, 'kind': 'y'}})",
    )  # fmt: skip
    yield case(
        "the_first_line_that_holds_is_taken",
        "Of several steps with one name the first that holds is taken.",
        f"? machine.follow('{n[1]}', '{s[1]}', {{'{w.amount}': {least}}})",
        f"? machine.follow('{n[1]}', '{s[1]}', {{'{w.amount}': {least - 1}}})",
        f"? machine.follow('{n[1]}', '{s[1]}', {{'{w.amount}': '{least}'}})",
    )  # fmt: skip
    yield case(
        "a_star_stands_for_all_other_states",
        "`*` stands for every state without a step of that name of its own.",
        f"? machine.follow('{n[4]}', '{s[1]}', {{}})",
        f"? machine.follow('{n[4]}', '{s[3]}', {{'a': {x}}})",
        f"? machine.follow('{n[0]}', '{s[2]}', {{'a': {x}}})",
    )  # fmt: skip


def _conditions(rng: Random, w: Words) -> Cases:
    text, s, n, _ = _text(rng, w)
    fill = (f"machine = {w.read_machine}({text!r})",)
    ask = f"machine.{w.choices}"
    x = rng.randrange(100)
    case = Topic("definitions", fill).case
    yield case(
        "values_are_compared_by_kind",
        "Conditions know `=`, `!=`, `<` and `>=`, for numbers and for words.",
        f"machine = {w.read_machine}('a: p -> q if n != {x}\\nb: p -> q if n = -{x}\\nc: p -> q "
        "if k != u\\nd: p -> p if k < m')",
        f"? {ask}('p', {{'n': {x}, 'k': 'u'}})", f"? {ask}('p', {{'n': -{x}, 'k': 'a'}})",
        f"? {ask}('p', {{'n': 'u', 'k': {x}}})", f"? {ask}('p', {{'n': {x + 1}, 'k': 'n'}})",
    )  # fmt: skip
    yield case(
        "broken_lines_are_refused",
        f"Lines that are no step, or that can never be reached, raise `{w.Error}`.",
        f"? {w.read_machine}('{n[0]} {s[0]} -> {s[1]}')",
        f"? {w.read_machine}('{n[0]}: {s[0]} -> *')",
        f"? {w.read_machine}('{n[0]}: {s[0]} -> {s[1]} if a ~ {x}')",
        f"? {w.read_machine}('{n[1]}: -> {s[2]}')",
        f"? machine.{w.add}('{n[3]}', '{s[3]}', '{s[2]}')",
        f"? {w.read_machine}('# {n[2]}\\n\\n').start",
    )  # fmt: skip
    yield case(
        "comments_do_not_count", "Empty lines and lines that begin with `#` do not count.",
        f"other = {w.read_machine}('# x\\n\\n  # y: a -> b\\n{n[2]}: {s[3]} -> {s[2]} set "
        f"v={x}\\n')",
        "? other.states()", f"? other.follow('{n[2]}', '{s[3]}', {{}})",
    )  # fmt: skip


def _items(rng: Random, w: Words) -> Cases:
    text, s, n, least = _text(rng, w)
    x = least + rng.randrange(3)
    fill = (
        f"machine = {w.read_machine}({text!r})",
        f"item = {w.Item}(machine, {{'{w.amount}': {x}, 'kind': 'x'}})",
    )
    case = Topic("items", fill).case
    yield case(
        "steps_lead_from_state_to_state",
        f"A {w.item} goes from state to state; other steps raise `Refused`.",
        f"? item.{w.step}('{n[0]}')", f"? item.{w.step}('{n[0]}')", f"? item.{w.step}('{n[1]}')",
        "? item.state", f"? item.{w.choices}()",
    )  # fmt: skip
    yield case(
        "steps_change_values", "A step may change values, and later conditions see them.",
        f"item.{w.assign}('{w.amount}', {least - 1})", f"? item.{w.steps}(['{n[0]}', '{n[1]}'])",
        f"? item.value('{w.amount}')", "? item.value('tries')", "? item.value('none', 7)",
        f"? item.{w.steps}(['{n[0]}', '{n[1]}', '{n[1]}'])", "? item.state",
    )  # fmt: skip
    yield case(
        "the_history_is_kept", "`history` tells every step with its states, or the last ones.",
        f"item.{w.steps}(['{n[0]}', '{n[1]}', '{n[4]}', '{n[2]}'])", "? item.history()",
        "? item.history(2)", "? item.history(last=9)", f"? item.visits('{s[0]}')",
        f"? item.visits('{s[4]}') + item.visits('{s[3]}')",
    )  # fmt: skip
    yield case(
        "visits_are_counted",
        "`visits` counts how often a state was reached, the beginning included.",
        f"item.{w.assign}('{w.amount}', {least - 2})",
        f"item.{w.steps}(['{n[0]}', '{n[1]}', '{n[0]}'])", f"? item.visits('{s[0]}')",
        f"? item.visits('{s[1]}')", f"? item.visits('{s[2]}')", "? item.history(1)",
    )  # fmt: skip
    yield case(
        "a_copy_goes_on_by_itself", f"A copy of a {w.item} goes on by itself.",
        f"item.{w.step}('{n[0]}')", "other = item.copy()",
        f"other.{w.assign}('{w.amount}', {least - 1})", f"? other.{w.step}('{n[1]}')",
        f"? item.{w.step}('{n[1]}')", "? other.history()", "? item.history()",
        f"? item.value('{w.amount}')",
    )  # fmt: skip


def _features(rng: Random, w: Words) -> Cases:
    text, s, n, least = _text(rng, w)
    fill = (
        f"machine = {w.read_machine}({text!r})",
        f"item = {w.Item}(machine, {{'{w.amount}': {least - 1}, 'kind': 'x'}})",
    )
    case = Topic("undo", fill, needs="undo").case
    yield case(
        "steps_can_be_taken_back",
        f"`{w.undo}` takes back the last step, its changes of values included.",
        f"item.{w.steps}(['{n[0]}', '{n[1]}'])", f"? item.value('{w.amount}')",
        f"? item.{w.undo}()", f"? item.value('{w.amount}')", "? item.history()",
        f"? item.{w.undo}()", f"? item.{w.undo}()", f"? item.{w.choices}()",
    )  # fmt: skip
    yield case(
        "steps_can_be_taken_again", f"`{w.redo}` takes a step again, until a new one was taken.",
        f"item.{w.steps}(['{n[0]}', '{n[1]}'])", f"item.{w.undo}()", f"? item.{w.redo}()",
        f"? item.value('{w.amount}')", "? item.history()", f"? item.{w.redo}()", f"item.{w.undo}()",
        f"item.{w.step}('{n[4]}')", f"? item.{w.redo}()", "? item.history()",
    )  # fmt: skip
    yield Topic("paths", fill, needs="paths").case(
        "the_fewest_steps_are_found",
        f"`{w.path_to}` gives the fewest steps to a state, changes of values included.",
        f"? {w.path_to}(machine, '{s[3]}', {{'{w.amount}': {least}, 'kind': 'x'}})",
        f"? {w.path_to}(machine, '{s[2]}')", f"? {w.path_to}(machine, '{s[4]}', {{}}, '{s[2]}')",
        f"? {w.path_to}(machine, '{s[3]}', {{'{w.amount}': {least * 4}}})",
        f"? {w.path_to}(machine, '{s[1]}', start='{s[3]}')", f"? {w.path_to}(machine, '{s[0]}')",
    )  # fmt: skip


FAMILY = PackageFamily(
    "workflow", Path(__file__).parent, _words, (_definitions, _conditions, _items, _features),
    (
        Feature(
            "undo", "undo and redo",
            "Please add `$Item.$undo()` and `$Item.$redo()`. The first takes the last step back: "
            "state, values and history are as before it; it gives the state, and raises `Refused` "
            "where no step is left. The second takes the step again that was taken back last, "
            "with "
            "the state and the values that it had led to, and gives the state; it raises "
            "`Refused` "
            "where there is none. After a new step nothing can be taken again. The history holds "
            "steps that were taken again, and none that were taken back.",
        ),
        Feature(
            "paths", "ways to a state",
            "Please add and export `$path_to(machine, goal, values=None, start=None)`: the list "
            "of "
            "names of the fewest steps that lead from `start` (the machine's start unless given) "
            "to the state `goal`. The values are those that the $item has at the beginning; steps "
            "change them on the way, and conditions see that. Of equally short ways the first in "
            "alphabetical order counts. The goal itself needs no step; without a way the result "
            "is None.",
        ),
    ),
)  # fmt: skip
