"""Gates: rollout -> keep, absorb, route. One gate per file; `registry.make_gate` chooses."""
