"""The attacks, one family a file; `unhack.audit.library` collects them."""
