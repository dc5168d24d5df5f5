"""Numbers about judges and ratings, as functions of plain numbers: agreement, rankings."""
