"""Fetch data sets of the hub, file by file, into the cache; what is there already is never fetched again."""

import json
import os
import re
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.transport.fetch import cache_folder

HUB = "https://huggingface.co"  # or HF_ENDPOINT, as the hub's own tools read it
NAME = re.compile(r"[\w.-]+/[\w.-]+")
SECONDS = 60
FILE_BYTES = 500_000_000
LISTING_BYTES = 20_000_000


def fetched(data_set: str, *, suffixes: Sequence[str] = (), advice: Sentence | None = None) -> Path:
    """The folder of a data set in the cache, fetched now if it is not there.

    Args:
        data_set: OWNER/NAME.
        suffixes: the kinds of files that are wanted; all of them when empty.
        advice: what to do without a network.

    Raises:
        BadInput: no such set, no network, or no access.
    """
    if not NAME.fullmatch(data_set) or ".." in data_set:
        raise BadInput("A set of the hub is called OWNER/NAME, not '{name}'.", name=data_set)
    folder = cache_folder() / "hub" / data_set.replace("/", "--")
    if not folder.is_dir():
        download(data_set, folder, suffixes=suffixes, token=os.environ.get("HF_TOKEN"), advice=advice)
    return folder


def download(
    data_set: str,
    folder: Path,
    *,
    under: str = "",
    suffixes: Sequence[str] = (),
    token: str | None = None,
    advice: Sentence | None = None,
) -> None:
    """Put the files of a data set into a folder, which appears only when it is complete.

    Raises:
        BadInput: no such set, no network, no access, or a file that would leave the folder.
    """
    part = folder.with_name(f"{folder.name}.{os.getpid()}.part")
    shutil.rmtree(part, ignore_errors=True)
    get = _Getter(data_set, token, advice or say("Without network give a file instead."))
    try:
        part.mkdir(parents=True)
        for name in _names(get, under):
            if suffixes and not name.lower().endswith(tuple(suffixes)):
                continue
            target = (part / name).resolve()
            if not target.is_relative_to(part.resolve()):
                raise BadInput("The hub lists a file outside the data folder: '{name}'.", name=name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(get(f"datasets/{data_set}/resolve/main/{urllib.parse.quote(name)}", FILE_BYTES))
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    except OSError as error:
        raise BadInput(
            "The cache folder {folder} cannot be written: {error}. Name another one in PROCTOR_CACHE.",
            folder=folder.parent,
            error=error.strerror or error,
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _names(get: "_Getter", under: str) -> Iterator[str]:
    data = get(f"api/datasets/{get.data_set}/tree/main/{under}?recursive=true", LISTING_BYTES)
    try:
        listing: Any = json.loads(data)
    except ValueError:
        listing = None
    if not isinstance(listing, list):
        raise BadInput("The hub's list of files of {data_set} cannot be read.", data_set=get.data_set)
    for entry in listing:
        if isinstance(entry, dict) and entry.get("type") == "file":
            yield str(entry["path"])


class _Getter:
    """Gets what lies at a path of the hub."""

    def __init__(self, data_set: str, token: str | None, advice: Sentence) -> None:
        self.data_set = data_set
        self._token = token
        self._advice = advice

    def __call__(self, path: str, limit: int) -> bytes:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        url = f"{os.environ.get('HF_ENDPOINT', HUB).rstrip('/')}/{path}"
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - https or the user's own endpoint
        try:
            with urllib.request.build_opener(_KeepTokenHome).open(request, timeout=SECONDS) as reply:
                data: bytes = reply.read(limit + 1)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in (401, 403, 404):
                raise BadInput(
                    "The hub refuses access to {data_set} ({status}). Check the name, HF_TOKEN, and, where access has to be granted, your request.",
                    data_set=self.data_set,
                    status=error.code,
                ) from None
            raise BadInput("The hub answered {status}. Try again later.", status=error.code) from None
        except (OSError, ValueError) as error:  # URLError and TimeoutError are OSErrors
            raise BadInput(
                "The hub cannot be reached: {error}. {advice}",
                error=getattr(error, "reason", error),
                advice=self._advice,
            ) from None
        if len(data) > limit:
            raise BadInput("The hub sent a file above {limit} bytes.", limit=limit)
        return data


class _KeepTokenHome(urllib.request.HTTPRedirectHandler):
    """Files lie on other hosts; the token must not travel there."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and urllib.parse.urlsplit(newurl).netloc != urllib.parse.urlsplit(req.full_url).netloc:
            request.remove_header("Authorization")
        return request
