"""The rules: one function each, and one file for those that read the same things."""
