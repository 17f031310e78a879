"""Run folders: what happened, kept so that a power cut loses nothing and a change shows."""
