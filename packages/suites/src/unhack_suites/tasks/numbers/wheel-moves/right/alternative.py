"""Simulates the wheels one step at a time."""


def wheel_moves(start: int, end: int, wheels: int) -> int:
    face = [int(char) for char in str(start).zfill(wheels)]
    goal = [int(char) for char in str(end).zfill(wheels)]
    moves = 0
    while face != goal:
        place = wheels - 1
        while place >= 0:
            face[place] = (face[place] + 1) % 10
            moves += 1
            if face[place] != 0:
                break
            place -= 1
    return moves
