"""Access: roles that include roles, patterns with wildcards, policies in which `deny` wins ties."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random

from unhack_suites.repos.family import (
    Cases,
    Feature,
    PackageFamily,
    Topic,
    UseCase,
    Words,
    draw_name,
    pick,
)

_PEOPLE = ["mira", "tomas", "ines", "okan", "petra", "liam", "yuki"]
_ROLES = ["clerk", "auditor", "editor", "owner", "guest", "chief"]
_PARTS = ["docs", "plans", "2031", "drafts", "photos", "bills", "north", "team"]


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="AccessError PolicyError RuleError", matches="matches covers fits",
        slash="/ . :", define="define add_role make", grant="grant give assign",
        revoke="revoke withdraw take_away", closure="closure expanded included",
        holders="holders members who_has", explain="explain reason why",
        filtered="filtered visible allowed_of", admin="admin manage control",
        thing="documents recordings buildings orders",
    )  # fmt: skip
    words["package"] = draw_name(rng, "access guard gate keys")
    words["summary"] = f"Rules of who may do what with {words['thing']}."
    words["purpose"] = f"to protect {words['thing']}"
    return words


def _patterns(rng: Random, w: Words) -> Cases:
    a, b, c, d = rng.sample(_PARTS, 4)
    s, call = w.slash, w.matches

    def case(claim: str, rule: str, *pairs: tuple[str, str]) -> UseCase:
        lines = tuple(f"? {call}('{one}', '{two}')" for one, two in pairs)
        return UseCase("patterns", claim, rule, lines)

    yield case(
        "a_star_is_one_part", "`*` stands for exactly one part.", (f"{a}{s}*", f"{a}{s}{b}"),
        (f"{a}{s}*", f"{a}{s}{b}{s}{c}"), (f"{a}{s}*{s}{c}", f"{a}{s}{d}{s}{c}"), (f"{a}{s}*", a),
        (f"*{s}{b}", f"{c}{s}{d}"),
    )  # fmt: skip
    yield case(
        "two_stars_are_any_number_of_parts", "`**` stands for any number of parts, none included.",
        (f"{a}{s}**", a), (f"{a}{s}**{s}{d}", f"{a}{s}{b}{s}{c}{s}{d}"),
        (f"{a}{s}**{s}{d}", f"{a}{s}{d}"), (f"**{s}{b}", f"{a}{s}{b}{s}{c}"), ("**", f"{c}{s}{b}"),
    )  # fmt: skip
    yield case(
        "names_have_to_be_equal", "A name stands for itself only.", (f"{a}{s}{b}", f"{a}{s}{b}"),
        (f"{a}{s}{b}", f"{a}{s}{b}s"), (a, f"{a}{s}{b}"), (f"{b}{s}{a}", f"{a}{s}{b}"),
    )  # fmt: skip
    yield case(
        "empty_parts_are_refused", f"An empty part of a pattern or a path raises `{w.Error}`.",
        (f"{a}{s}{s}{b}", a), (a, f"{s}{b}"), (f"{c}{s}", f"{c}{s}{d}"), (d, ""),
    )  # fmt: skip


def _setup(rng: Random, w: Words) -> tuple[list[str], list[str], list[str]]:
    people, roles = rng.sample(_PEOPLE, 3), rng.sample(_ROLES, 4)
    low, mid, top, other = roles
    lines = [
        "roles = Roles()", f"roles.{w.define}('{low}')", f"roles.{w.define}('{mid}', ['{low}'])",
        f"roles.{w.define}('{top}', ['{mid}'])", f"roles.{w.define}('{other}')",
        f"roles.{w.grant}('{people[0]}', '{low}')", f"roles.{w.grant}('{people[1]}', '{top}')",
    ]  # fmt: skip
    return lines, people, roles


def _roles(rng: Random, w: Words) -> Cases:
    fill, (p, q, r), (low, mid, top, other) = _setup(rng, w)
    case = Topic("roles", fill).case
    yield case(
        "roles_include_others", "A person has the roles that their roles include.",
        f"? roles.of('{q}')", f"? roles.of('{p}')", f"? roles.of('{r}')",
        f"roles.{w.grant}('{p}', '{other}')", f"? roles.of('{p}')", f"? roles.{w.closure}('{mid}')",
    )  # fmt: skip
    yield case(
        "roles_may_be_taken_away",
        f"A role that a person does not have raises `{w.Error}` when it is taken away.",
        f"roles.{w.revoke}('{q}', '{top}')", f"? roles.of('{q}')",
        f"? roles.{w.revoke}('{p}', '{mid}')", f"? roles.{w.revoke}('{r}', '{low}')",
        f"? roles.of('{p}')",
    )  # fmt: skip
    yield case(
        "circles_of_roles_are_refused",
        f"A role that would include itself raises `{w.Error}`, an unknown one too.",
        f"? roles.{w.define}('{low}', ['{top}'])", f"? roles.{w.define}('{mid}', ['{mid}'])",
        f"? roles.{w.grant}('{p}', 'no {mid}')",
        f"? roles.{w.define}('new', ['{low}', 'no {top}'])",
        f"roles.{w.define}('{other}', ['{mid}'])", f"? roles.{w.closure}('{other}')",
    )  # fmt: skip


def _policy(rng: Random, w: Words) -> tuple[Topic, list[str], list[str], list[str]]:
    """Cases of one policy; its people, its roles, and parts of its paths."""
    fill, people, roles = _setup(rng, w)
    parts = rng.sample(_PARTS, 4)
    (low, mid, top, _), (a, b, c, d), s = roles, parts, w.slash
    rules = (
        "policy = Policy(roles)", f"policy.allow('{low}', 'read', '{a}{s}**')",
        f"policy.allow('{mid}', 'write', '{a}{s}*{s}{b}')",
        f"policy.deny('{low}', 'read', '{a}{s}{c}{s}*')",
        f"policy.allow('{top}', '{w.admin}', '{a}{s}{c}{s}{d}')",
    )  # fmt: skip
    return Topic("decisions", (*fill, *rules)), people, roles, parts


def _ask(slash: str, person: str, action: str, *parts: str) -> str:
    return f"? policy.may('{person}', '{action}', '{slash.join(parts)}')"


def _decisions(rng: Random, w: Words) -> Cases:
    topic, (p, q, r), (low, _, _, other), (a, b, c, d) = _policy(rng, w)
    case, s, admin, ask = topic.case, w.slash, w.admin, partial(_ask, w.slash)
    yield case(
        "without_a_rule_nobody_may", "What no rule allows is forbidden.", ask(p, "read", a, b),
        ask(p, "write", a, d), ask(r, "read", a, b), ask(q, "read", b, a), ask(p, "read", a),
    )  # fmt: skip
    yield case(
        "greater_actions_include_lesser_ones",
        f"Whoever may write may read, and whoever may {admin} may write; whoever is denied "
        "reading "
        "is denied everything.",
        ask(q, "read", a, d, b), ask(q, "write", a, d, b), ask(q, admin, a, d, b),
        ask(q, "write", a, c, d), ask(q, admin, a, c, d), ask(q, "write", a, c, b),
        ask(p, "write", a, d, b),
    )  # fmt: skip
    yield case(
        "the_most_exact_rule_decides",
        "The pattern with more names decides, then one without `**`, then the longer one.",
        ask(p, "read", a, c, d), ask(q, "read", a, c, d), ask(p, "read", a, c),
        ask(p, "read", a, c, d, b), f"policy.allow('{low}', 'read', '**{s}{c}{s}{b}')",
        ask(p, "read", a, c, b), f"policy.deny('{low}', 'read', '*{s}{b}')", ask(p, "read", a, b),
        ask(p, "read", d, b),
    )  # fmt: skip
    yield case(
        "a_deny_wins_a_tie", "Of equally exact rules a `deny` wins.",
        f"policy.deny('{low}', 'write', '{a}{s}*{s}{b}')", ask(q, "write", a, d, b),
        ask(q, "read", a, d, b), f"policy.allow('{other}', 'read', '{d}')",
        f"policy.deny('{low}', 'read', '{d}')", f"roles.{w.grant}('{p}', '{other}')",
        ask(p, "read", d), f"roles.{w.revoke}('{p}', '{low}')", ask(p, "read", d),
    )  # fmt: skip


def _further_decisions(rng: Random, w: Words) -> Cases:
    topic, (p, q, r), (low, mid, _, _), (a, b, c, d) = _policy(rng, w)
    case, s, ask = topic.case, w.slash, partial(_ask, w.slash)
    yield case(
        "decisions_follow_later_changes",
        "New rules and roles count at once, also for what was asked before.", ask(p, "read", b, c),
        ask(r, "read", a, b), f"policy.allow('{low}', 'write', '{b}{s}*')", ask(p, "read", b, c),
        f"roles.{w.grant}('{r}', '{mid}')", ask(r, "read", a, b), ask(r, "write", b, d),
    )  # fmt: skip
    paths = [s.join(path) for path in ((a, b), (a, c, d), (b,), (a, c), (a, d, b))]
    yield case(
        "paths_are_filtered",
        f"`{w.filtered}` keeps the paths that a person may act on, in their order.",
        f"? policy.{w.filtered}('{p}', 'read', {paths})",
        f"? policy.{w.filtered}('{q}', 'write', {paths})",
        f"? policy.{w.filtered}('{r}', 'read', {paths[::-1]})",
        f"? policy.{w.filtered}('{q}', 'read', {paths[::-1]})",
    )  # fmt: skip
    yield case(
        "unknown_actions_are_refused", f"A rule for an unknown action or role raises `{w.Error}`.",
        f"? policy.allow('{low}', 'delete', '{a}')", f"? policy.deny('no {mid}', 'read', '{b}')",
        f"? policy.allow('{low}', '', '{a}')", ask(p, "read", b, d),
    )  # fmt: skip


def _features(rng: Random, w: Words) -> Cases:
    fill, (p, q, r), (low, mid, top, other) = _setup(rng, w)
    a, b, c, d = rng.sample(_PARTS, 4)
    s = w.slash
    yield Topic("holders", fill, needs="holders").case(
        "holders_have_a_role_by_way_of_others",
        f"`{w.holders}` lists the people who have a role, by way of other roles too.",
        f"? roles.{w.holders}('{low}')", f"? roles.{w.holders}('{top}')",
        f"? roles.{w.holders}('{other}')", f"roles.{w.grant}('{r}', '{mid}')",
        f"roles.{w.revoke}('{q}', '{top}')", f"? roles.{w.holders}('{low}')",
        f"? roles.{w.holders}('no {mid}')",
    )  # fmt: skip
    yield Topic("reasons", fill, needs="explain").case(
        "the_deciding_rule_is_named",
        f"`{w.explain}` names the rule that decides, as `allow role action pattern`.",
        "policy = Policy(roles)", f"policy.allow('{mid}', 'write', '{a}{s}**')",
        f"policy.deny('{low}', 'read', '{a}{s}{b}')",
        f"? policy.{w.explain}('{q}', 'read', '{a}{s}{c}')",
        f"? policy.{w.explain}('{p}', 'write', '{a}{s}{b}')",
        f"? policy.{w.explain}('{p}', 'read', '{c}{s}{d}')",
        f"policy.allow('{top}', 'read', '{a}{s}{b}{s}{d}')",
        f"? policy.{w.explain}('{q}', 'read', '{a}{s}{b}{s}{d}')",
    )  # fmt: skip


FAMILY = PackageFamily(
    "access", Path(__file__).parent, _words,
    (_patterns, _roles, _decisions, _further_decisions, _features),
    (
        Feature(
            "holders", "the people who have a role",
            "Before we delete a role we want to know who has it. Please add "
            "`Roles.$holders(role)`: the people who have the role, directly or because one of "
            "their roles includes it, as a list in alphabetical order. An unknown role raises "
            "`$Error`.",
        ),
        Feature(
            "explain", "reasons of decisions",
            "Nobody understands why something is refused. Please add "
            "`Policy.$explain(person, action, path)`. It gives the rule that decides, as a text "
            "like `allow clerk read a${slash}*`: the word `allow` or `deny`, then role, action "
            "and "
            "pattern of the rule as they were entered. Without a rule it gives `no rule`.",
        ),
    ),
)  # fmt: skip
