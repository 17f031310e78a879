"""The forms of payloads that attacks fill in; no attack stands here."""
