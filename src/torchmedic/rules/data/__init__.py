"""Data that is dirty, leaks or is fed wrongly."""
