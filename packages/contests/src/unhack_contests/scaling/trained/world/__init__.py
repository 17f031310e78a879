"""One world: its text, its recipe of models, what is asked about it, and how its runs train."""
