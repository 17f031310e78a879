"""Questions with answers of many forms, one family a file."""
