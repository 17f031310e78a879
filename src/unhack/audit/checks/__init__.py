"""What an audit decides besides soundness."""
