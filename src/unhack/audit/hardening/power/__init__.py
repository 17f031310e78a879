"""Power: weakened copies of a verifier, and how many of them its audit breaks."""
