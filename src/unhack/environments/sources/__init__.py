"""Repository tasks from elsewhere: folders, rows of data sets, commits of repositories."""
