"""Write a run as a page."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.run import Estimate, RunRecord
from proctor.core.task import Store
from proctor.runtime.files import write_whole


def write_report(
    record: RunRecord, store: Store, estimates: Sequence[Estimate], path: str | Path, lang: str, *, content: bool = True
) -> Path:
    """Write a run as a page; the suffix says which kind: .html, .md, .json, or .xml (JUnit). A folder gets several pages.

    A folder is one that exists, or a path that ends with a slash. Without `content`, a page in HTML shows no trials,
    and no reason of a failure.

    Raises:
        BadInput: another suffix, or the file cannot be written.
    """
    is_folder = str(path).endswith(("/", os.sep)) or Path(path).is_dir()
    path = Path(path)
    if is_folder:
        from proctor.reports import folder

        return folder.write(path, record, store, estimates, lang)
    if path.suffix == ".xml":
        from proctor.exports import junit

        return junit.write(record, store, path)[0]
    return write_whole(path, _text(record, store, estimates, path, lang, content=content))


def _text(
    record: RunRecord, store: Store, estimates: Sequence[Estimate], path: Path, lang: str, *, content: bool
) -> str:
    from proctor.reports import render
    from proctor.reports.build import build, json_summary
    from proctor.reports.listing import stories

    match path.suffix:
        case ".json":
            summary = json_summary(record, store, estimates)
            return json.dumps(msgspec.to_builtins(summary), ensure_ascii=False, indent=2) + "\n"
        case ".html":
            if not content:
                report = build(record, store, estimates, failures=0)
                unmeasured = tuple(replace(one, example="") for one in report.unmeasured)  # which may quote a reply
                return render.html(replace(report, judged=(), unmeasured=unmeasured), lang)
            return render.html(build(record, store, estimates), lang, stories(record, store))
        case ".md":
            return render.markdown(build(record, store, estimates), lang)
        case _:
            raise BadInput("A report ends in .html, .md, .json or .xml, not '{name}'.", name=path.name)
