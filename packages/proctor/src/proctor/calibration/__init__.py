"""Compare judges with people and with each other: ratings, agreement, and figures with intervals."""
