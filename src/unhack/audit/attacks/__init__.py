"""The attacks, one family a file; `unhack.audit.attacks.registry` collects them."""
