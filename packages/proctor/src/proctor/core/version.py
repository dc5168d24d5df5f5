"""The version of this release, where every package can import it, and the versions of what it writes and reads again.

A layout is raised with a migration, and with a stored example of the new one in `tests/data/layouts`. Files that people write
(policies, settings, watches, data) have no version: a key keeps its meaning, and an unknown one is an error.
"""

__version__ = "0.1.0"

SQLITE_LAYOUT = 5  # of a store in a file
POSTGRESQL_LAYOUT = 4  # of a store in PostgreSQL
SAMPLE_INDEX = 3  # of the web app's index of samples, which is made again where it is of another one
WEB_FIGURES = 2  # of the web app's figures, which are computed again by another release too
