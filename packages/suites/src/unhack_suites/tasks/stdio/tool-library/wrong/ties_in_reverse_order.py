"""Flaw: sorts (total, member) in reverse, so equal totals come out from z to a."""
hands: dict[str, list[str]] = {}
for _ in range(int(input())):
    member, action, tool = input().split()
    mine = hands.setdefault(member, [])
    if action == "out":
        mine.append(tool)
    elif tool in mine:
        mine.remove(tool)

rows = sorted(((len(mine), name) for name, mine in hands.items() if mine), reverse=True)
for count, name in rows:
    print(name, count)
if not rows:
    print("none")
