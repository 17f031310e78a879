"""The settings of a run, as values and as TOML."""
