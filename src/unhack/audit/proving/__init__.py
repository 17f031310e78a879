"""From payloads to findings: score, prove, shorten, classify."""
