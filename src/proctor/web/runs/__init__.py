"""The list of runs: what they are, how far they are, and starting and stopping them."""
