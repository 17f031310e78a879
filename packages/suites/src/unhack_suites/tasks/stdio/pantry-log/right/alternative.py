"""Scans a list of all batches for each meal; the waste is found at the end by one pass."""
batches: list[list[int]] = []  # last day, number, jars left
now = 0
for _ in range(int(input())):
    words = input().split()
    now = int(words[1])
    wanted = int(words[2])
    if words[0] == "add":
        batches.append([int(words[3]), len(batches) + 1, wanted])
        continue
    fresh = sorted(batch for batch in batches if batch[0] >= now and batch[2] > 0)
    missing = wanted - sum(batch[2] for batch in fresh)
    if missing > 0:
        print(f"short {missing}")
        continue
    parts = []
    for batch in fresh:
        if wanted == 0:
            break
        jars = min(batch[2], wanted)
        batch[2] -= jars
        wanted -= jars
        parts.append(f"{batch[1]}:{jars}")
    print(" ".join(parts))
print(f"waste {sum(jars for last, _, jars in batches if last < now)}")
