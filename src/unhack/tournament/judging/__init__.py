"""The judge: freezing, measuring, flags, and the machine to itself."""
