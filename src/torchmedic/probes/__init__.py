"""Instruments: each file watches one thing and writes facts; none judges."""
