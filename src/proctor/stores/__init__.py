"""Where trials are kept, one file per database."""
