"""Computes round and seat of every player from the index."""


def snake_draft(players: list[str], teams: int) -> list[list[str]]:
    result: list[list[str]] = [[] for _ in range(teams)]
    for i, player in enumerate(players):
        turn, seat = divmod(i, teams)
        result[seat if turn % 2 == 0 else teams - 1 - seat].append(player)
    return result
