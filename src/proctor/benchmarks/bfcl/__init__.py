"""BFCL."""
