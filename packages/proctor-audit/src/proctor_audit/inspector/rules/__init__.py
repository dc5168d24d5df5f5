"""The rules: one file and one function each."""
