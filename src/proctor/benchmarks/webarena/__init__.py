"""WebArena: does an agent in a browser do what it is asked on a shop, its administration, a forum, a code host and a map?

`webarena` is all 812 tasks, `webarena/shopping` or `webarena/gitlab,reddit` those on some sites. The sites are the user's own:
their addresses are options. What needs no site is also scored from recorded answers.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.benchmarks.webarena import dataset, parity, replies
from proctor.benchmarks.webarena.oracle import oracle
from proctor.benchmarks.webarena.scorer import WebArenaScorer
from proctor.config import converted
from proctor.core.parts import BenchmarkPart, Tell
from proctor.core.sentence import say
from proctor.core.task import Task
from proctor.downloads import fetch


class WebArenaOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which tasks there are, and where their sites are.

    Attributes:
        data: a file of tasks or a clone of the official repository; the pinned file when None.
        sites: the address of each site: shopping, shopping_admin, reddit, gitlab, map, wikipedia, homepage. Those left out are
            read from the official environment variables (SHOPPING, …).
    """

    data: str | None = None
    sites: Mapping[str, str] = {}


def task(category: str | Sequence[str] | None = None, **options: object) -> Task:
    """Return the task of some sites; the tasks are read and checked here.

    Args:
        category: a site, or several with commas; all tasks when None.
        options: the fields of `WebArenaOptions`.

    Raises:
        BadInput: an unknown site or option, or a file that cannot be read.
    """
    how = converted(options, WebArenaOptions, "webarena")
    path = dataset.locate(how.data)
    addresses = dataset.addresses_of(how.sites)
    samples = dataset.samples(dataset.read(path, addresses), category)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return Task(
        name="webarena" if category is None else f"webarena/{category if isinstance(category, str) else ','.join(category)}",
        version=dataset.COMMIT if sha256 == dataset.SHA256 else sha256[:12],
        samples=samples,
        scorers=(WebArenaScorer(),),
        oracle=oracle,
        spread_by="site",
        planned=len(samples),
        notes=() if addresses else (say("No site has an address (--set sites.shopping=URL), so only answers can be scored, without the pages."),),
        provenance={
            "repository": "web-arena-x/webarena",
            "commit": dataset.COMMIT,
            "licence": dataset.LICENCE,
            "files": {path.name: sha256},
        },
    )  # fmt: skip


def _pull(source: Path | None, tell: Tell) -> Path:
    return fetch.pull(dataset.PACKAGE, source=source, progress=tell)


PART = BenchmarkPart(
    task=task,
    options=WebArenaOptions,
    replies=replies.read,
    export=replies.write,
    check_corpus=parity.check_corpus,
    pull_package=_pull,
)
