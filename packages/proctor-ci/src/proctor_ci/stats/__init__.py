"""Numbers about releases, as functions of plain numbers: drift, forecasts, what a difference is made of."""
