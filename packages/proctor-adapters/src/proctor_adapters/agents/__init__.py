"""Agents of other libraries, one module for each."""
