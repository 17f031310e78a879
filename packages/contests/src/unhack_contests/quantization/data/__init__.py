"""Text: windows, questions, and what is known without the reference."""
