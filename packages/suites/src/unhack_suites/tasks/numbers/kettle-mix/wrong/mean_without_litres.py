"""Flaw: takes the plain mean of bath and pour, without the litres as weights."""


def mix_temperature(pours: list[list[float]], room: float, drift: float) -> float:
    bath = None
    for i, (litres, degrees) in enumerate(pours):
        if litres > 0:
            bath = degrees if bath is None else (bath + degrees) / 2
        if bath is not None and i < len(pours) - 1:
            bath += drift * (room - bath)
    return float(room) if bath is None else float(bath)
