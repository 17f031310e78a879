"""A function fitted to its rows: the columns, parameters and forms that its scores show."""
