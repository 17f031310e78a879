"""Flaw: the left column is sized by the items only, so TOTAL sticks out past short names."""
n = int(input())
items = []
for _ in range(n):
    name, quantity, unit = input().split()
    items.append((name, int(quantity) * int(unit)))
total = sum(cents for _, cents in items)


def money(cents: int) -> str:
    return f"{cents / 100:.2f}"


left = max((len(name) for name, _ in items), default=5)
right = max(len(money(cents)) for cents in [total, *(cents for _, cents in items)])
for name, cents in items:
    print(f"{name.ljust(left)}  {money(cents).rjust(right)}")
print("-" * (left + right + 2))
print(f"{'TOTAL'.ljust(left)}  {money(total).rjust(right)}")
