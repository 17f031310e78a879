"""Tasks and graders with known weaknesses: each attack wins against one of them."""
