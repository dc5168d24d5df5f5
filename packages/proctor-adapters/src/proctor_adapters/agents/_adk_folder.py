"""Load an agent of google-adk from its folder, as `adk web` does: `__init__.py`, `agent.py` or `root_agent.yaml`."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from proctor import registry
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput


def load(folder: Path) -> object:
    """Return the `App` called `app`, as it has more settings than its agent; else the agent called `root_agent`.

    Variables of an `.env` in the folder, or in the one above it, are set before.

    Raises:
        BadInput: the folder holds neither, or its code raises when imported.
    """
    from google.adk.apps import App

    folder = folder.resolve()
    _set_variables(folder)
    for module in _modules(folder):
        if isinstance(app := getattr(module, "app", None), App):
            return app
        if (agent := getattr(module, "root_agent", None)) is not None:
            return agent
    if (config := folder / "root_agent.yaml").is_file():
        return _from_config(config)
    raise BadInput(
        "{folder} has no 'root_agent'. Its agent.py or __init__.py has to hold one: root_agent = LlmAgent(...)",
        folder=folder,
    )


def _modules(folder: Path) -> Iterator[ModuleType]:
    """Yield the package itself, then its module `agent`, as far as they are there."""
    package, init = _package(folder)
    for path, name in ((folder / "__init__.py", init), (folder / "agent.py", f"{package}.agent")):
        if path.is_file():
            try:
                yield importlib.import_module(name)
            except (Exception, SystemExit) as error:
                raise registry.import_failed(str(path), error) from error


def _package(folder: Path) -> tuple[str, str]:
    """Return the names by which the package and its `__init__` are imported: its own, unless another module has that."""
    for root in (folder.parent, folder):  # the second for modules beside agent.py
        if str(root) not in sys.path:
            sys.path.append(str(root))  # last, so that they hide nobody else's
    importlib.invalidate_caches()
    if folder.name.isidentifier() and _leads_to(folder):
        return folder.name, folder.name
    name = f"proctor_agent_{digest_bytes(str(folder).encode())[:12]}"
    if name not in sys.modules:
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules[name] = importlib.util.module_from_spec(spec)
    return name, f"{name}.__init__"


def _leads_to(folder: Path) -> bool:
    """Return True if the name of a folder is that of its package, now and where it was imported before."""
    if (known := sys.modules.get(f"{folder.name}.agent")) is not None:  # a folder without `__init__.py` may be several
        return known.__file__ is not None and Path(known.__file__).resolve().parent == folder
    try:
        spec = importlib.util.find_spec(folder.name)
    except (ImportError, ValueError):
        return False
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return bool(places) and Path(places[0]).resolve() == folder


def _from_config(path: Path) -> object:
    from google.adk.agents import config_agent_utils

    try:
        return config_agent_utils.from_config(str(path))
    except Exception as error:
        raise BadInput(
            "{path} makes no agent: {kind}: {error}", path=path, kind=type(error).__name__, error=error
        ) from error


def _set_variables(folder: Path) -> None:
    """Those of the nearest `.env`; the environment itself wins."""
    from dotenv import load_dotenv

    for parent in (folder, folder.parent):
        if (parent / ".env").is_file():
            load_dotenv(parent / ".env", override=False)
            return
