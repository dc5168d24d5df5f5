"""Turn values of Inspect into JSON."""

import base64
import math
import mimetypes
from pathlib import Path
from typing import Any

FILES = ("image", "audio", "video", "document")


def dumped(value: Any) -> dict[str, object]:
    fields: dict[str, object] = value.model_dump(mode="json", exclude_none=True, fallback=str)
    return fields


def without_ids(message: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in message.items() if key not in ("id", "source", "metadata")}


def embedded(message: dict[str, Any]) -> dict[str, object]:
    """Return a message with the bytes of the files that it names."""
    for part in message["content"] if isinstance(message.get("content"), list) else ():
        kind = part.get("type")
        path = part.get(kind)
        if kind in FILES and isinstance(path, str) and Path(path[:4_000]).is_file():
            media = mimetypes.guess_type(path)[0] or "application/octet-stream"
            part[kind] = f"data:{media};base64,{base64.b64encode(Path(path).read_bytes()).decode()}"
    return message


def clean(value: object) -> object:
    """Return a value without what JSON cannot hold: NaN and infinities are null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): clean(entry) for key, entry in value.items()}
    return [clean(entry) for entry in value] if isinstance(value, list | tuple) else value
