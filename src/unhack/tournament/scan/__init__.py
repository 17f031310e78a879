"""The scan of a submission's files; `scan.scan` is its entry."""
