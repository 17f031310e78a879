"""A snake has period 2 * teams, so every team takes two slices with that step and merges them."""

from itertools import zip_longest


def snake_draft(players: list[str], teams: int) -> list[list[str]]:
    period = 2 * teams
    result = []
    for team in range(teams):
        forward = players[team::period]
        backward = players[period - 1 - team :: period]
        pairs = zip_longest(forward, backward)
        result.append([player for pair in pairs for player in pair if player is not None])
    return result
