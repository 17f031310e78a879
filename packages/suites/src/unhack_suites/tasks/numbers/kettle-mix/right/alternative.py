"""Closed form: heat above room temperature fades by (1 - drift) with every later step."""


def mix_temperature(pours: list[list[float]], room: float, drift: float) -> float:
    volume = sum(litres for litres, _ in pours)
    if volume == 0:
        return float(room)
    last = len(pours) - 1
    excess = 0.0
    for index, (litres, degrees) in enumerate(pours):
        excess += litres * (degrees - room) * (1 - drift) ** (last - index)
    return room + excess / volume
