"""Read data that other programs keep: data sets of the hub, and binary tables."""
