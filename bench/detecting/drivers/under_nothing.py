"""Runs cases as plain Python does."""

from __future__ import annotations

from watching import run_script, serve

if __name__ == "__main__":
    serve(lambda told: run_script())
