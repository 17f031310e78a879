"""Diagnostic edits: edits that show, tried on a completion, what lets it through."""
