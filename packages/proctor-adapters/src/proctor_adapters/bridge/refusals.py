"""Say in a sentence why a task of another program cannot be loaded here, and what to do."""

import json
import re
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.near import did_you_mean, near
from proctor.isolation import WorkerRaised
from proctor_adapters.bridge.data import folders
from proctor_adapters.bridge.worker import TOO_SLOW, GuestRaised

OFFLINE = ("OfflineModeIsEnabled", "LocalEntryNotFoundError", "ConnectionError", "ConnectError", "DatasetNotFoundError")
SAYS_OFFLINE = re.compile(
    r"offline mode|couldn't (?:be reached|connect|reach|find)|name resolution|network is unreachable|"
    r"name or service not known|max retries exceeded|failed to (?:resolve|download|clone)|connection (?:error|refused)|"
    r"could not resolve host|read-only file system|^https?://|raised Connect(?:ion)?Error|\bgit\b.{1,4}\bclone\b",
    re.IGNORECASE,
)
SAYS_DOCKER = re.compile(r"\bdocker\b.{0,8}\b(?:compose|daemon|engine|build|run)\b", re.IGNORECASE)
SAYS_INSTALL = re.compile(r"pip install|uv sync|not installed|No module named", re.IGNORECASE)
MARKUP = re.compile(r"\[/?bold\]")
MOST = 400


def of_loading(name: str, error: GuestRaised) -> BadInput:
    """Return the refusal of a task that the other program could not load."""
    text = " ".join(MARKUP.sub("", error.text).split())[:MOST]
    if error.type == "NoSuchTask":
        return _unknown(name, error.text)
    if error.type == TOO_SLOW:
        return BadInput(
            "{task} was not loaded within {seconds} seconds. A longer limit: --set bridge.seconds=N",
            task=name,
            seconds=error.text,
        )
    if error.type in ("ModuleNotFoundError", "ImportError") or SAYS_INSTALL.search(text):
        return BadInput(
            "{task} needs a package that the environment of its worker does not have: {error}", task=name, error=text
        )
    if SAYS_DOCKER.search(text):
        return BadInput("{task} needs Docker, and no daemon answers here: {error}", task=name, error=text)
    if error.type in OFFLINE or SAYS_OFFLINE.search(text):
        return BadInput(
            "The data of {task} are not here ({error}). Fetch them once, with the network and your files: proctor data pull {task}. Without a network, do so on another machine and bring what it keeps into: {folders}",
            task=name,
            error=text,
            folders=folders(),
        )
    return BadInput("{task} cannot be loaded: {type}: {error}", task=name, type=error.type, error=text)


def of_lmeval(name: str, error: WorkerRaised) -> BadInput:
    """Return the refusal of a task that lm-eval cannot load, or that cannot be run by what it asks for."""
    if error.type != "Refusal":
        return of_loading(name, GuestRaised(error.type, error.message))
    about: dict[str, Any] = json.loads(error.message)
    kind = about["kind"]
    if kind == "unknown":
        return BadInput(
            "lm-eval has no task of the name {task}. Similar ones: {known}", task=name, known=", ".join(about["known"])
        )
    if kind == "group":
        return BadInput(
            "{task} is {count} tasks. Name one of them: {known}",
            task=name,
            count=about["count"],
            known=", ".join(about["tasks"]),
        )
    if kind == "unsafe":
        return BadInput(
            "{task} runs code that the model writes. Add --set bridge.unsafe=true to run it in a worker without network.",
            task=name,
        )
    if kind == "files":
        return BadInput("{task} shows images or plays sounds, which tasks of lm-eval cannot do here.", task=name)
    return BadInput(
        "{task} compares likelihoods of given words (output type {type}), which chat endpoints do not give. Of lm-eval, tasks of type generate_until can be run.",
        task=name,
        type=about["type"],
    )


def _unknown(name: str, text: str) -> BadInput:
    known = [one for one in text.split(", ") if one]
    wanted = name.partition(":")[2].rpartition("@")[2]
    if not known:
        return BadInput("{task}: no installed package of that name has tasks of Inspect.", task=name)
    return BadInput(
        "{task}: there is no task '{name}'.{near} {count} are there: {known}",
        task=name,
        name=wanted,
        near=did_you_mean(near(wanted, known)),
        count=len(known),
        known=", ".join(known[:20]) + (", …" if len(known) > 20 else ""),
    )
