"""An experiment as tables, as JSON and as one page of HTML that needs nothing else."""
