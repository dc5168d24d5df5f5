"""Ask the system whether a process still runs."""

import os
import sys


def is_alive(pid: int) -> bool:
    """True if a process with this number runs, whoever owns it; True on Windows, where asking would be Ctrl-C."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's
        pass
    return True
