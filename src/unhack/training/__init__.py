"""Train a policy against a verifier that can be gamed, and keep the hack out of what is deployed.

`world` says what is learnt, `policy` samples, `adapters` are what is trained, `gates` decide where
each rollout's gradient goes, `objectives` is the mathematics, `train` the loop, `evaluate` and
`report` measure. Torch is imported by all of it; nothing below imports this package.
"""
