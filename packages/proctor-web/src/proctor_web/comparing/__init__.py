"""Several runs: differences, ranks and trends."""
