"""Flaw: when there are too few jars, the cook takes all of them before reporting `short`."""
batches: list[list[int]] = []
now = 0
for _ in range(int(input())):
    words = input().split()
    now = int(words[1])
    wanted = int(words[2])
    if words[0] == "add":
        batches.append([int(words[3]), len(batches) + 1, wanted])
        continue
    parts = []
    for batch in sorted(batches):
        if batch[0] >= now and batch[2] > 0 and wanted > 0:
            jars = min(batch[2], wanted)
            batch[2] -= jars
            wanted -= jars
            parts.append(f"{batch[1]}:{jars}")
    print(f"short {wanted}" if wanted else " ".join(parts))
print(f"waste {sum(jars for last, _, jars in batches if last < now)}")
