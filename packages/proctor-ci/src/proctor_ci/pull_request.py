"""Keep one summary on a pull request of GitHub or a merge request of GitLab: the comment is made once, and changed from then on.

The text may hold what a model wrote: it mentions nobody, links to no other request, and gives no command to GitLab. The token is read
from the environment only; a job without one, as for a request from a fork, says so and goes on.
"""

import os
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote

import msgspec

from proctor.api.loop import run_in_loop
from proctor.core.errors import BadInput, EndpointRefused, PartFailed
from proctor.core.sentence import Sentence, say
from proctor.transport.client import Client
from proctor.transport.target import RequestTarget

T = TypeVar("T")
Look = Callable[[], Awaitable[T | None]]
MOST_CHARACTERS = 60_000  # GitHub takes 65,536
MOST_PAGES = 20
PAGE = 100
NAME = re.compile(r"[\w.-]{1,60}", re.ASCII)
# mentions, references, addresses of other requests, commands of GitLab
LIVE = re.compile(
    r"(?<=@)(?=\w)|(?<=[#!])(?=\d)|(?<=\bGH)(?=-\d)|(?:(?<=/issues)|(?<=/pull)|(?<=_requests))(?=/\d)|^(?=[ \t]*/)",
    re.MULTILINE | re.IGNORECASE,
)
APART = "\N{ZERO WIDTH SPACE}"
OURS = ("OWNER", "MEMBER", "COLLABORATOR")
NO_REQUEST = say("This is no job of a pull request: no summary was posted.")
NO_TOKEN = say("There is no token in {variable}, as in jobs of forks: no summary was posted.")


class PullRequest(NamedTuple):
    """A pull or merge request: the addresses of its comments and of one of them, and the header with the token."""

    comments: str
    comment: str
    change: str
    user: str
    headers: Mapping[str, str]


class _User(msgspec.Struct, frozen=True):
    id: int = 0
    type: str = ""


class _Comment(msgspec.Struct, frozen=True):
    """A comment of GitHub, which has a `user`, or of GitLab, which has an `author`."""

    id: int
    body: str | None = None
    user: _User | None = None
    author: _User | None = None
    author_association: str | None = None

    def is_of(self, user: _User | None) -> bool:
        """True unless a stranger wrote it with our marker; GitHub does not say whose the token is."""
        if user is not None:
            return self.author is not None and self.author.id == user.id
        return (self.user is not None and self.user.type == "Bot") or self.author_association in OURS


def post_summary(text: str, name: str, environment: Mapping[str, str] = os.environ) -> Sentence:
    """Post the text as the comment of that name, or change the one that is there, and say what was done.

    Raises:
        BadInput: a name that is none, or the server failed.
    """
    if not NAME.fullmatch(name):
        raise BadInput(
            "The name of a summary has 1 to 60 letters, digits, dots and dashes; '{name}' has not.", name=name
        )
    request = _request_of(environment)
    if isinstance(request, Sentence):
        return request
    marker = f"<!-- proctor: {name} -->"
    try:
        return run_in_loop(lambda _: _post(request, f"{marker}\n{defuse(text)}", marker))
    except EndpointRefused as error:
        return say(
            "No summary was posted, as the token may not do that (jobs of forks may only read): {why}",
            why=error.sentence,
        )
    except PartFailed as error:
        raise BadInput("The summary could not be posted: {why}", why=error.sentence) from None


def defuse(text: str) -> str:
    """Return the text as a comment may hold it: it mentions nobody, gives no commands, and is cut to what a comment takes.

    >>> defuse("by @ann, see #12\\n/close").replace(APART, "|")
    'by @|ann, see #|12\\n|/close'
    """
    text = LIVE.sub(APART, text)
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS].rpartition(chr(10))[0]}\n\n…"


def _request_of(environment: Mapping[str, str]) -> PullRequest | Sentence:
    """Return the request that the job is of, or why there is none."""
    if number := environment.get("CI_MERGE_REQUEST_IID"):
        if not (token := environment.get("PROCTOR_GITLAB_TOKEN")):
            return say(NO_TOKEN.text, variable="PROCTOR_GITLAB_TOKEN")
        api = environment.get("CI_API_V4_URL", "https://gitlab.com/api/v4")
        project = quote(environment.get("CI_PROJECT_ID", ""), safe="")
        notes = f"{api}/projects/{project}/merge_requests/{quote(number, safe='')}/notes"
        return PullRequest(notes, notes, "PUT", f"{api}/user", {"PRIVATE-TOKEN": token})
    if (number := _number_of(environment.get("GITHUB_EVENT_PATH"))) is None:
        return NO_REQUEST
    if not (token := environment.get("GITHUB_TOKEN")):
        return say(NO_TOKEN.text, variable="GITHUB_TOKEN")
    issues = f"{environment.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{quote(environment.get('GITHUB_REPOSITORY', ''))}/issues"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    return PullRequest(f"{issues}/{number}/comments", f"{issues}/comments", "PATCH", "", headers)


def _number_of(event: str | None) -> str | None:
    """Return the number of the pull request that an event file of GitHub is about."""
    if not event:
        return None
    try:
        number = msgspec.json.decode(Path(event).read_bytes())["pull_request"]["number"]
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return None
    return str(number) if isinstance(number, int) else None


async def _post(request: PullRequest, body: str, marker: str) -> Sentence:
    async with Client(concurrency=1) as client:

        def send(method: str, url: str, reply: type[T], look: Look[T] | None = None) -> Coroutine[object, object, T]:
            headers = {**request.headers, "Content-Type": "application/json"}
            advice = say("Check the token and what it may do.")
            content = None if method == "GET" else msgspec.json.encode({"body": body})
            target = RequestTarget(url, method=method, headers=headers, advice=advice)
            return client.post(target, content, partial(msgspec.json.decode, type=reply), look=look)

        async def find() -> _Comment | None:
            for page in range(1, MOST_PAGES + 1):
                comments = await send("GET", f"{request.comments}?per_page={PAGE}&page={page}", list[_Comment])
                for comment in comments:
                    if (comment.body or "").startswith(marker) and comment.is_of(user):
                        return comment
                if len(comments) < PAGE:
                    break
            return None

        user = await send("GET", request.user, _User) if request.user else None
        if (there := await find()) is not None:
            await send(request.change, f"{request.comment}/{there.id}", _Comment)
            return say("The summary on the request was brought up to date.")
        await send("POST", request.comments, _Comment, find)  # one whose reply was lost may be there
        return say("The summary was posted on the request.")
