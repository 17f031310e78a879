"""unhack as a resources server of NeMo Gym."""
