"""Flaw: keeps a set of tools, so two pieces of one tool count as one."""
hands: dict[str, set[str]] = {}
for _ in range(int(input())):
    member, action, tool = input().split()
    mine = hands.setdefault(member, set())
    if action == "out":
        mine.add(tool)
    else:
        mine.discard(tool)

rows = sorted((-len(mine), name) for name, mine in hands.items() if mine)
for negative, name in rows:
    print(name, -negative)
if not rows:
    print("none")
