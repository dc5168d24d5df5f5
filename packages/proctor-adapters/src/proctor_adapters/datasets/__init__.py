"""Fetch and read data that others keep: pinned packages, data sets of the hub, binary tables."""
