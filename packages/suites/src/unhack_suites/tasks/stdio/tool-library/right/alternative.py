"""Keeps a plain list of the tools in each member's hands and sorts twice (stable sort)."""
hands: dict[str, list[str]] = {}
for _ in range(int(input())):
    member, action, tool = input().split()
    mine = hands.setdefault(member, [])
    if action == "out":
        mine.append(tool)
    elif tool in mine:
        mine.remove(tool)

holders = sorted(name for name, mine in hands.items() if mine)
holders.sort(key=lambda name: len(hands[name]), reverse=True)
print("\n".join(f"{name} {len(hands[name])}" for name in holders) or "none")
