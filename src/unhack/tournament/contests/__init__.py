"""The contests, one package each; `contests.registry` finds them by name."""
