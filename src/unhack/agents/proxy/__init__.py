"""Between an agent and its model: a local server that holds the key, counts the cost and checks."""
