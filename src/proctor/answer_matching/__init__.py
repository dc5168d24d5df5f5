"""Decide whether an answer means the same as a target: the rules behind the scorer `answer`."""
