"""The pages of a review in this process, and a browser of each person that keeps cookies and sends no requests out."""

from collections.abc import Sequence
from pathlib import Path

from starlette.testclient import TestClient

from proctor_judging.review.queue import Review, Reviewers
from proctor_web.app import app
from proctor_web.auth import Access
from proctor_web.reviewing.item_pages import ReviewPages
from proctor_web.users.ledger import Person

ADDRESS = "http://127.0.0.1:7860"


class Site:
    """A review with its pages."""

    def __init__(self, data: Path, *, reviewers: Sequence[str] = (), lang: str = "en") -> None:
        self.review = Review(data, Reviewers(names=reviewers))
        self.access = Access(7860)
        self.app = app(ReviewPages(self.review, self.access).routes(), self.access, lang)

    def stranger(self, address: str = ADDRESS) -> TestClient:
        """A browser that has no token."""
        return TestClient(self.app, base_url=address, raise_server_exceptions=False)

    def browser(self, person: Person | None = None) -> TestClient:
        """A browser that came in by a link."""
        client = self.stranger()
        came = client.get(self.access.link(person or Person(name="")), follow_redirects=False)
        assert came.status_code == 303
        return client


def csrf(client: TestClient, path: str = "/statistics") -> str:
    """The token in the forms of a page."""
    return client.get(path).text.partition('name="csrf" value="')[2].partition('"')[0]
