"""What is wrong, known without the verifier."""
