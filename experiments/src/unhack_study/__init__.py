"""The project's own study of gradient routing: worlds and tools that no other user needs."""
