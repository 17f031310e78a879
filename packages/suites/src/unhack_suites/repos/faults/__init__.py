"""Faults: slips as edits of text, drawn and proven."""
