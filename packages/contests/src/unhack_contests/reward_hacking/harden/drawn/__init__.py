"""Generated verifiers whose leaks no stock recipe closes."""
