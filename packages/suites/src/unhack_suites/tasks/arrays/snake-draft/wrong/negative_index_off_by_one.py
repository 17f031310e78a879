"""Flaw: uses `-seat` for the way back, which starts at team 0 instead of at the last team."""


def snake_draft(players: list[str], teams: int) -> list[list[str]]:
    result: list[list[str]] = [[] for _ in range(teams)]
    for i, player in enumerate(players):
        seat = i % teams
        if (i // teams) % 2 == 1:
            seat = -seat
        result[seat].append(player)
    return result
