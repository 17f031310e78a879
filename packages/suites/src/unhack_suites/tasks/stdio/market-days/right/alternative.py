"""Union-find over 2n nodes (stall on day A, stall on day B); joined nodes hold together."""
n, m = map(int, input().split())
parent = list(range(2 * n))


def find(node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


for _ in range(m):
    a, b = (int(word) - 1 for word in input().split())
    parent[find(a)] = find(b + n)
    parent[find(b)] = find(a + n)

if any(find(stall) == find(stall + n) for stall in range(n)):
    print("impossible")
else:
    cost: dict[int, int] = {}
    for stall in range(n):
        cost[find(stall)] = cost.get(find(stall), 0) + 1
    letters = []
    for stall in range(n):
        here, there = find(stall), find(stall + n)
        mine, others = cost.get(here, 0), cost.get(there, 0)
        letters.append("A" if (mine, here) < (others, there) else "B")
    print(letters.count("A"))
    print(*letters, sep="")
