"""Uses Decimal for the amounts and ljust/rjust for the columns."""
from decimal import Decimal

rows: list[tuple[str, str]] = []
total = Decimal("0.00")
for _ in range(int(input())):
    name, quantity, unit = input().split()
    amount = (int(quantity) * Decimal(unit)).scaleb(-2)
    total += amount
    rows.append((name, str(amount + Decimal("0.00"))))
rows.append(("TOTAL", str(total)))

name_width = amount_width = 0
for name, text in rows:
    name_width = max(name_width, len(name))
    amount_width = max(amount_width, len(text))
for index, (name, text) in enumerate(rows):
    if index == len(rows) - 1:
        print("-" * (name_width + amount_width + 2))
    print(name.ljust(name_width), text.rjust(amount_width), sep="  ")
