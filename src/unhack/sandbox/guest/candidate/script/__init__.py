"""The candidate's stand-ins for functions, classes and objects that stay with the judge."""
