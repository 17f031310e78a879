"""The world `pretrained`: word problems and small programs for instruct models in a folder."""

from unhack.training.worlds.pretrained.world import PretrainedWorld

__all__ = ["PretrainedWorld"]
