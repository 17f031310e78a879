"""The training service: what a submission may ask for, what that costs, who trains it."""
