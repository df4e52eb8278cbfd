"""The live page: another process that reads run files and shows them while they grow."""
