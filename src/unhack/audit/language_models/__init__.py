"""Language models as attackers."""
