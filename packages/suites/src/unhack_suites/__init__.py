"""Contents: task suites, repository tasks and derivations, found by the engine by entry points."""
