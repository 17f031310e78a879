"""The audited verifier's zone: code that loads and calls somebody's reward function."""
