"""Pure functions over numbers: estimates with their intervals."""
