"""Stateful tools that an agent acts on: one file for each way to have them."""
