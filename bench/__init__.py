"""What Proctor costs, as ratios taken in one run: `make bench`, or `python -m bench NAME ...`."""
