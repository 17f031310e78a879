"""The family `recurrence`."""
