"""Oracles: proofs that a completion is wrong, made without the verifier."""
