"""Human labels: who reviews what, and what they said; the pages for it are in `web`."""
