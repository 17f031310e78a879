"""Flaw: prints and adds the unit price instead of quantity times unit price."""
n = int(input())
items = []
for _ in range(n):
    name, _quantity, unit = input().split()
    items.append((name, int(unit)))
items.append(("TOTAL", sum(cents for _, cents in items)))
texts = [f"{cents / 100:.2f}" for _, cents in items]
left = max(len(name) for name, _ in items)
right = max(map(len, texts))
for (name, _), text in zip(items, texts):
    if name == "TOTAL":
        print("-" * (left + right + 2))
    print(f"{name:<{left}}  {text:>{right}}")
