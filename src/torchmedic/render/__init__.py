"""Drawing of verdicts; knows findings only."""
