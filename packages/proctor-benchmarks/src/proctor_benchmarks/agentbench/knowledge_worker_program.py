"""Worker: turn programs of the part KG into SPARQL by the official code of the clone, which is in `sys.path`."""

import sys
from functools import cache
from types import ModuleType
from typing import Any


def query(program: str) -> str:
    """Return the query that finds what a program means."""
    official = _official()
    return str(official.lisp_to_sparql(official.postprocess_raw_code(program)))


@cache
def _official() -> Any:
    """Import the official module; what it imports besides is used by nothing that is called here."""
    networkx, progress = ModuleType("networkx"), ModuleType("tqdm")
    vars(networkx).update(MultiGraph=object, MultiDiGraph=object)  # which annotations name
    vars(progress).update(tqdm=None)
    sys.modules.update(networkx=networkx, tqdm=progress)
    from utils import logic_form_util

    return logic_form_util
