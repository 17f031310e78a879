"""Flaw: bounces at the ends, so the first and last team do not choose twice in a row."""


def snake_draft(players: list[str], teams: int) -> list[list[str]]:
    result: list[list[str]] = [[] for _ in range(teams)]
    seat, step = 0, 1
    for player in players:
        result[seat].append(player)
        if teams == 1:
            continue
        if not 0 <= seat + step < teams:
            step = -step
        seat += step
    return result
