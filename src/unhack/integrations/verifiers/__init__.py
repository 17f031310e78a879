# pyright: basic
"""unhack in verifiers and prime-rl: a reward to plug in, and the taskset `unhack-taskset`."""
