"""Contents: the contests that ship with unhack, found by the engine by entry points."""
