"""The first backend: warm workers that fork once for each job."""
