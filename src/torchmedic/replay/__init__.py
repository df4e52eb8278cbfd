"""The sick step, run again: notice it, rewind, look closely, try cures."""
