"""Charts, pages and their text: one kit for every report."""
