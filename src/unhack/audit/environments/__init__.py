"""An environment audited: attacks on it, an oracle for them, findings."""
