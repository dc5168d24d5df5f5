"""Values out of replies: JSON with the usual slips, LaTeX commands in it, and plain arithmetic."""
