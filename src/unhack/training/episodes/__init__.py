"""Episodes of several turns: their record and the credit of each turn."""
