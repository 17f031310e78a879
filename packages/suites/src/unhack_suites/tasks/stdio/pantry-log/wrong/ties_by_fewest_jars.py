"""Flaw: sorts batches by (last day, jars left), so ties do not go to the smaller number."""
batches: list[list[int]] = []
now = 0
for _ in range(int(input())):
    words = input().split()
    now = int(words[1])
    wanted = int(words[2])
    if words[0] == "add":
        batches.append([int(words[3]), wanted, len(batches) + 1])
        continue
    fresh = sorted(batch for batch in batches if batch[0] >= now and batch[1] > 0)
    missing = wanted - sum(batch[1] for batch in fresh)
    if missing > 0:
        print(f"short {missing}")
        continue
    parts = []
    for batch in fresh:
        if wanted == 0:
            break
        jars = min(batch[1], wanted)
        batch[1] -= jars
        wanted -= jars
        parts.append(f"{batch[2]}:{jars}")
    print(" ".join(parts))
print(f"waste {sum(batch[1] for batch in batches if batch[0] < now)}")
