"""Tasks as Harbor folders, and Harbor trials judged on the host."""
