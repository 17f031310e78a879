"""Flaw: knows only the necklaces of the example and guesses length 1 for all others."""
known = {"aabbba": "a 3", "rgbbgr": "b 2", "zzz": "z 3", "k": "k 1"}
for _ in range(int(input())):
    beads = input().strip()
    print(known.get(beads, f"{min(beads)} 1"))
