"""The packages we measure ourselves against, imported without their warnings about old syntax."""

import warnings
from importlib import import_module
from typing import Any


def reference(name: str) -> Any:
    """A module by name; jieba comes with its dictionary loaded, so that later calls say nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = import_module(name)
        if name == "jieba":
            module.setLogLevel(60)
            module.initialize()
    return module
