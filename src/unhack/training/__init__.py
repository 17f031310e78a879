"""Train a policy against a verifier that can be gamed, and keep the hack out of what is deployed.

`config` is read first; `worlds` give prompts and judge, `policy` samples, `adapters` are trained,
`objectives` is the mathematics, `routing` decides where each gradient goes, `loop` puts them
together, `run` keeps the record, `evaluation` measures, `experiment` compares runs, `discovery` is
tier 5 of the audit. Torch is imported by all of it; nothing below imports this package.
"""
