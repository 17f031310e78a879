"""Flaw: knows the answers to the three examples and prints -1 for everything else."""
import sys

plan = "".join(sys.stdin.read().split())
answers = {"362S..a.b.####.A..B..": 12, "171baSBA..": 10}
print(answers.get(plan, -1))
