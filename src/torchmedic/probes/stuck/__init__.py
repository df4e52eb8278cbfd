"""A process that stands still: where it stands, and what it waits for."""
