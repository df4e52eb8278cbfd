"""Several processes that disagree, and processes that stand still."""
