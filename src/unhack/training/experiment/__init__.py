"""Experiments: arms, sweeps, preregistration, results, claims, report."""
