"""Mechanisms of a running process: threads, garbage collection, files written whole, bounded searches and schema checks."""
