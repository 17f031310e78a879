"""Small transformers built from scratch: the Qwen3 block, its training, and the text it learns.

Nothing here imports torch at import time but `qwen3`, `pretrain`, `nano` and
`train_nano`.
"""
