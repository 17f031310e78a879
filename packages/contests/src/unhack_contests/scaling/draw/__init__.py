"""One draw: what is known, what is asked, what came back, and the judge's own forecast."""
