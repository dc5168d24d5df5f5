"""Read a JSON file, and say which one cannot be read and why."""

import json
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput


def read_json(path: Path) -> Any:
    """Return the value in a JSON file, in UTF-8 with or without a mark, UTF-16 or UTF-32.

    Raises:
        BadInput: it cannot be read, or is no JSON.
    """
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None
    except (ValueError, RecursionError) as error:
        raise BadInput("{path}: {error}.", path=path, error=error) from None
