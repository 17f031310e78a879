"""Small Python packages with faults, repaired over several turns: read, fix, test, submit.

`packages` makes them, `cases` their tests, `judging` runs the files in the sandbox, `actions` is
the text that a policy reads and writes, `world` the turns, `corpus` and `base` the model that
reinforcement starts from.
"""
