"""Interpretability with planted circuits; `docs/reference/contests/interp.md` is its page."""
