"""Images of containers as root directories: built by an existing tool, unpacked once, stacked."""
