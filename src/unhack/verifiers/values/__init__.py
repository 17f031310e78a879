"""Values of cases: what can cross, how they compare, how they are shown."""
