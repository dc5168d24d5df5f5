"""Ask the system whether a process still runs."""

import os
import sys
from contextlib import suppress
from pathlib import Path


def is_alive(pid: int) -> bool:
    """True if a process with this number runs, whoever owns it; True on Windows, where asking would be Ctrl-C.

    One that ended does not run, though its parent, such as the first process of a container, may never ask for its end.
    """
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's
        pass
    with suppress(OSError, IndexError):  # no Linux, or it ended meanwhile
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0] != "Z"
        )
    return True
