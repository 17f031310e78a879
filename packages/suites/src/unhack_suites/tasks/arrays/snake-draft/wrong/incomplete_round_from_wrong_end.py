"""Flaw: reverses the players of a backward round, so an incomplete one is served from team 0."""


def snake_draft(players: list[str], teams: int) -> list[list[str]]:
    result: list[list[str]] = [[] for _ in range(teams)]
    for number, start in enumerate(range(0, len(players), teams)):
        chunk = players[start : start + teams]
        if number % 2 == 1:
            chunk = chunk[::-1]
        for team, player in enumerate(chunk):
            result[team].append(player)
    return result
