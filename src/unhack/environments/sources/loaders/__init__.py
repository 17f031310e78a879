"""Repository tasks from the formats of others."""
