"""Flaw: the bath also moves towards the room after the last pour."""


def mix_temperature(pours: list[list[float]], room: float, drift: float) -> float:
    volume = 0.0
    bath = float(room)
    for litres, degrees in pours:
        if volume + litres == 0:
            continue
        bath = (bath * volume + degrees * litres) / (volume + litres)
        volume += litres
        bath += (room - bath) * drift
    return bath
