"""The world `pretrained`: word problems and small programs for instruct models in a folder."""
