"""WebArena: does an agent in a browser do what it is asked on a shop, its administration, a forum, a code host and a map?

`webarena` is all 812 tasks, `webarena/shopping` or `webarena/gitlab,reddit` those on some sites. The sites are the user's own:
their addresses are options. What needs no site is also scored from recorded answers.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec

from proctor.config import converted
from proctor.core.parts import BenchmarkPart
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor.core.trial import TrialFailure
from proctor_adapters.datasets import fetch
from proctor_benchmarks.webarena import dataset, environment, parity, replies
from proctor_benchmarks.webarena.oracle import oracle
from proctor_benchmarks.webarena.scorer import WebArenaScorer

INSTRUCTION = "You act in a web browser. Look at the page first; every action shows the page as it is afterwards, with a number for each element. End with the action stop."
Seconds = Annotated[float, msgspec.Meta(ge=0, le=60)]


class WebArenaOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which tasks there are, and where their sites are.

    Attributes:
        data: a file of tasks or a clone of the official repository; the pinned file when None.
        sites: the address of each site: shopping, shopping_admin, reddit, gitlab, map, wikipedia, homepage. Those left out are
            read from the official environment variables (SHOPPING, …).
        logins: the folder with the cookies that the official `auto_login.py` saved; the agent is not logged in when None.
        screenshots: a folder for pictures of the pages that the agent is shown.
        wait_action, wait_target: seconds that a page has after an action, and after it was opened for an evaluator.
        page_characters: of a page that the agent is shown.
        only_sites: the browser finds the hosts of the sites, and no other; officially it reaches every address.
    """

    data: str | None = None
    sites: Mapping[str, str] = {}
    logins: str | None = None
    screenshots: str | None = None
    wait_action: Seconds = 2.0
    wait_target: Seconds = 3.0
    page_characters: Annotated[int, msgspec.Meta(ge=100)] = 8_000
    only_sites: bool = False


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
    configs = dataset.chosen(dataset.read(path, addresses), category)
    samples = [dataset.sample_of(config, INSTRUCTION if addresses else "") for config in configs]
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return Task(
        name="webarena"
        if category is None
        else f"webarena/{category if isinstance(category, str) else ','.join(category)}",
        version=dataset.COMMIT if sha256 == dataset.SHA256 else sha256[:12],
        samples=samples,
        scorers=(WebArenaScorer(),),
        environment=_sites(how, addresses, configs) if addresses else None,
        oracle=oracle,
        spread_by="site",
        planned=len(samples),
        notes=_notes(how, is_live=bool(addresses)),
        provenance={
            "repository": "web-arena-x/webarena",
            "commit": dataset.COMMIT,
            "licence": dataset.LICENCE,
            "files": {path.name: sha256},
        },
    )


def _sites(how: WebArenaOptions, addresses: Mapping[str, str], configs: Sequence[dataset.Config]) -> environment.Sites:
    settings = environment.SiteSettings(
        logins=None if how.logins is None else Path(how.logins).expanduser(),
        screenshots=None if how.screenshots is None else Path(how.screenshots).expanduser(),
        wait_action=how.wait_action,
        wait_target=how.wait_target,
        most_characters=how.page_characters,
        only_sites=how.only_sites,
    )
    return environment.Sites(addresses, configs, settings)


def _notes(how: WebArenaOptions, *, is_live: bool) -> Sequence[Sentence]:
    if not is_live:
        return (
            say("No site has an address (--set sites.shopping=URL), so only answers can be scored, without the pages."),
        )
    if how.logins is None:
        return (say("The agent is not logged in anywhere: name the folder with the cookies, --set logins=DIR."),)
    return ()


def _replies(path: Path, task_options: Mapping[str, Any]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    """Yield what was left, of the tasks on the chosen sites."""
    category = task_options.get("category")
    if category is None:
        return replies.read(path)
    chosen = dataset.chosen(dataset.read(dataset.locate(task_options.get("data")), {}), category)
    ids = {str(config.task_id) for config in chosen}
    return ((id, reply) for id, reply in replies.read(path) if id in ids)


PART = BenchmarkPart(
    task=task,
    options=WebArenaOptions,
    replies=_replies,
    export=replies.write,
    check_corpus=parity.check_corpus,
    pull_package=partial(fetch.pull, dataset.PACKAGE),
)
