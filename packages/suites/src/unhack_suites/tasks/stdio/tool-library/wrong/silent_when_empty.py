"""Flaw: prints nothing instead of `none` when every tool is back."""
hands: dict[str, list[str]] = {}
for _ in range(int(input())):
    member, action, tool = input().split()
    mine = hands.setdefault(member, [])
    if action == "out":
        mine.append(tool)
    elif tool in mine:
        mine.remove(tool)

for name in sorted(hands, key=lambda member: (-len(hands[member]), member)):
    if hands[name]:
        print(name, len(hands[name]))
