"""Fetch the gated data set with the user's own token, file by file, into the cache."""

import json
import os
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.transport.fetch import cache_folder

HUB = "https://huggingface.co"  # or HF_ENDPOINT, as the hub's own tools read it
DATA_SET = "gaia-benchmark/GAIA"
YEAR = "2023"
SECONDS = 60
FILE_BYTES = 500_000_000


def located() -> Path:
    """The data folder: `PROCTOR_GAIA_DATA`, the cache, or fetched now with `HF_TOKEN`.

    Raises:
        BadInput: it is nowhere and cannot be fetched; says what to do.
    """
    given = os.environ.get("PROCTOR_GAIA_DATA")
    if given:
        return Path(given).expanduser()
    folder = cache_folder() / "gaia"
    return folder if (folder / YEAR).is_dir() else fetch(folder)


def fetch(folder: Path) -> Path:
    """Download the whole set into a folder; it appears there only when it is complete."""
    token = os.environ.get("HF_TOKEN")
    if not token:
        raise BadInput(
            "GAIA is gated. Ask for access on the page of {data_set}, set HF_TOKEN to your token, and try again; or give a folder: --set data=PATH.",
            data_set=DATA_SET,
        )
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        for name in _names(token):
            target = (part / name).resolve()
            if not target.is_relative_to(part.resolve()):
                raise BadInput("The hub lists a file outside the data folder: '{name}'.", name=name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_get(f"{_hub()}/datasets/{DATA_SET}/resolve/main/{urllib.parse.quote(name)}", token))
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder


def _names(token: str) -> Iterator[str]:
    listing: Any = json.loads(_get(f"{_hub()}/api/datasets/{DATA_SET}/tree/main/{YEAR}?recursive=true", token))
    for entry in listing:
        if isinstance(entry, dict) and entry.get("type") == "file":
            yield str(entry["path"])


def _get(url: str, token: str) -> bytes:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})  # noqa: S310 - https or the user's own endpoint
    opener = urllib.request.build_opener(_KeepTokenHome)
    try:
        with opener.open(request, timeout=SECONDS) as reply:
            data: bytes = reply.read(FILE_BYTES + 1)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (401, 403, 404):
            raise BadInput(
                "The hub refuses access to {data_set} ({status}). Check HF_TOKEN, and that your request for access was granted.",
                data_set=DATA_SET,
                status=error.code,
            ) from None
        raise BadInput("The hub answered {status}. Try again later.", status=error.code) from None
    except (urllib.error.URLError, TimeoutError) as error:
        raise BadInput(
            "The hub cannot be reached: {error}. Without network give a folder: --set data=PATH.",
            error=getattr(error, "reason", error),
        ) from None
    if len(data) > FILE_BYTES:
        raise BadInput("The hub sent a file above {limit} bytes.", limit=FILE_BYTES)
    return data


def _hub() -> str:
    return os.environ.get("HF_ENDPOINT", HUB).rstrip("/")


class _KeepTokenHome(urllib.request.HTTPRedirectHandler):
    """Files lie on other hosts; the token must not travel there."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and urllib.parse.urlsplit(newurl).netloc != urllib.parse.urlsplit(req.full_url).netloc:
            request.remove_header("Authorization")
        return request
