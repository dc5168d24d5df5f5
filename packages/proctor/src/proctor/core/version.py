"""The version of this release, where every package can import it."""

__version__ = "0.1.0"
