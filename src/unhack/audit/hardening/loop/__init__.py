"""Hacker, fixer and solver in turn: `unhack audit --harden`."""
