"""Exceptions explained."""
