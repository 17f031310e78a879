"""Products, sparse and sorted data, convolutions, recurrences."""
