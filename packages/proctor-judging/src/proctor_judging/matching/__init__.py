"""Decide whether an answer means the same as a target: the rules of the scorer `answer`."""
