"""Flaw: moves the most quarrelsome stalls to day A until no pair clashes; A may clash itself."""
n, m = map(int, input().split())
pairs = [tuple(map(int, input().split())) for _ in range(m)]
cold: set[int] = set()
while True:
    clashes = [pair for pair in pairs if pair[0] not in cold and pair[1] not in cold]
    if not clashes:
        break
    ends = [stall for pair in clashes for stall in pair]
    cold.add(max(sorted(set(ends)), key=ends.count))
if any(a in cold and b in cold for a, b in pairs):
    print("impossible")
else:
    print(len(cold))
    print("".join("A" if stall in cold else "B" for stall in range(1, n + 1)))
