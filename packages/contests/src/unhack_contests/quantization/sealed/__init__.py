"""The sealed processes of a submission, and their entry module."""
