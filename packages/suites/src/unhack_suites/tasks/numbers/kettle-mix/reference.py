"""Step-by-step simulation with the litres and the temperature of the bath."""


def mix_temperature(pours: list[list[float]], room: float, drift: float) -> float:
    volume = 0.0
    bath = float(room)
    for index, (litres, degrees) in enumerate(pours):
        if litres > 0:
            bath = (volume * bath + litres * degrees) / (volume + litres)
            volume += litres
        if index < len(pours) - 1 and volume > 0:
            bath += drift * (room - bath)
    return bath if volume > 0 else float(room)
