"""Long-lived processes of a submission, called by a judge outside."""
