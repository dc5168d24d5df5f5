"""Thin faces with the names of other systems, on top of everything."""
