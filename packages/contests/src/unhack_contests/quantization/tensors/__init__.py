"""The contest with `runtime=torch`: a submission gives weights back, the judge runs them."""
