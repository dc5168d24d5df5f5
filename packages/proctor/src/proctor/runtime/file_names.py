"""Check file names found in data: impossible names are refused before the system is asked."""

MOST_BYTES = 255  # of one part of a path, on all systems that we know
MOST_PATH_BYTES = 4_000


def can_be_a_file(name: str) -> bool:
    """True if a file can have this name; for others the system would raise instead of reporting that there is none.

    >>> can_be_a_file("data/a.txt"), can_be_a_file("a\\0"), can_be_a_file("a" * 5000)
    (True, False, False)
    """
    data = name.encode("utf-8", "replace")
    return b"\0" not in data and len(data) <= MOST_PATH_BYTES and all(len(p) <= MOST_BYTES for p in data.split(b"/"))
