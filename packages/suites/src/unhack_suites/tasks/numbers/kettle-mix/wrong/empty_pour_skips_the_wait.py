"""Flaw: a pour of 0 litres is dropped together with the wait that belongs to it."""


def mix_temperature(pours: list[list[float]], room: float, drift: float) -> float:
    real = [(litres, degrees) for litres, degrees in pours if litres > 0]
    if not real:
        return float(room)
    volume, bath = real[0]
    for litres, degrees in real[1:]:
        bath += drift * (room - bath)
        bath = (volume * bath + litres * degrees) / (volume + litres)
        volume += litres
    return float(bath)
