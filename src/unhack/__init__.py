"""unhack: verifiable rewards that hold up under optimisation pressure."""
