"""Repository tasks out of the commits of a local git repository."""
