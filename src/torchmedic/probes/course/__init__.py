"""The course of a training: losses, scores, rates and sizes over its steps and epochs."""
