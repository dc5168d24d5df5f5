"""Why a number moved, in the app: the page, the operation, and what may be wrong."""

from pathlib import Path

import pytest
from web_site import AppSite

from proctor import Sample, Task, evaluate


@pytest.fixture
def site(tmp_path: Path) -> AppSite:
    found = AppSite(tmp_path)
    for name, start, right in (("old", 0, 38), ("new", 5, 20)):
        samples = [
            Sample.ask(str(n), str(n), target="yes", tags={"kind": "<b>odd</b>" if n % 2 else "even"})
            for n in range(start, start + 40)
        ]
        task = Task(name="t", samples=samples, scorers=["exact"])
        evaluate(
            task,
            agent=lambda question, right=right: "yes" if int(question) < right else "<script>no</script>",
            store=found.store,
            run_id=name,
        )
    return found


def test_the_page_shows_the_parts_and_is_linked_from_the_comparison(site: AppSite) -> None:
    client = site.browser()
    assert '"/compare/why?run=old&amp;run=new"' in client.get("/compare?run=old&run=new&margin=5").text
    page = client.get("/compare/why?run=old&run=new&by=kind")
    assert page.status_code == 200
    assert "Why accuracy moved: 95.0% → 37.5%" in page.text
    assert "The agent, by kind" in page.text
    assert "<script>no" not in page.text
    assert "<b>odd" not in page.text
    assert "数字为什么变了" in client.get("/compare?run=old&run=new&lang=zh").text
    assert "accuracy moved" not in client.get("/compare/why?run=old&run=new&lang=zh").text


def test_programs_get_parts_that_sum_to_the_difference(site: AppSite) -> None:
    client = site.browser()
    found = client.get("/api/v1/compare/why?run=old&run=new").json()
    assert sum(one["value"] for one in found["parts"]) == pytest.approx(found["after"] - found["before"])
    assert client.get("/api/v1/compare/why?run=old&run=new&by=knd").status_code == 400
    assert client.get("/compare/why?run=old&run=new&by=knd").status_code == 400
    assert client.get("/compare/why?run=old&run=old").status_code == 400
    assert client.get("/compare/why?run=old").status_code == 400
    assert client.get("/compare/why?run=old&run=nobody").status_code == 404
