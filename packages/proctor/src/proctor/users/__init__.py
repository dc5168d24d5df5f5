"""Simulated users: one file for each kind, named KIND:ARGUMENT; the other modules are what they share."""
