"""HTTP and downloads: one pool, one pace, one retry policy; pinned files and their cache."""
