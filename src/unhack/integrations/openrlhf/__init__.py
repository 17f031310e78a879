"""unhack in OpenRLHF: a reward file, and the same over HTTP."""
