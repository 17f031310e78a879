"""Flaw: a first pour of 0 litres divides by zero."""


def mix_temperature(pours: list[list[float]], room: float, drift: float) -> float:
    if not pours:
        return float(room)
    volume = 0.0
    bath = 0.0
    for i, (litres, degrees) in enumerate(pours):
        if i > 0:
            bath += drift * (room - bath)
        bath = (volume * bath + litres * degrees) / (volume + litres)
        volume += litres
    return bath
