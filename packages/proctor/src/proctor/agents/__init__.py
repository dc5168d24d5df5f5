"""The system under test, one file per way to reach it; the file's name is its name on the command line."""
