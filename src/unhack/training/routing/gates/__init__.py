"""Gates: rollout -> keep or route, in part or whole; `registry.make_gate` chooses."""
