"""Read samples from files."""
