"""The inputs of a function: the columns, parameters and forms that its scores show."""
