"""Collect human labels, and measure how far people and judges agree; the pages are in `web`."""
