"""Flaw: every round goes in the same direction."""


def snake_draft(players: list[str], teams: int) -> list[list[str]]:
    return [players[team::teams] for team in range(teams)]
