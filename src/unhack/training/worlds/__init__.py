"""Worlds: prompts with loopholes, and the judgement of completions."""
