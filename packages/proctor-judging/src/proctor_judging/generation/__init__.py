"""Data that a model makes, and how good it is: problems by a prompt and a schema, novelty, and one report of all evidence."""
