"""Collect human labels: who reviews which item, and the labels; the pages are in `web`."""
