"""The gate in the app: the page, the operation, and what may be wrong."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest
from web_site import AppSite

from proctor import Sample, Task, evaluate
from proctor.api import at
from proctor.api.run import Run
from proctor_ci.baselines import set_baseline
from proctor_ci.gate import gate
from proctor_web.comparing.gate_page import lay_out
from proctor_web.comparing.gating import policy_of
from proctor_web.workspace import open_workspace


class Lab:
    """A site with three runs of one task: `old`, `new` that is the same, and `bad`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = AppSite(folder)
        self.client = self.site.browser()
        samples = [Sample.ask(str(n), str(n), target="yes") for n in range(40)]
        task = Task(name="t", samples=samples, scorers=["exact"])
        for name, right in (("old", 38), ("new", 38), ("bad", 10)):
            evaluate(
                task,
                agent=lambda question, right=right: "yes" if int(question) < right else "no",
                store=self.site.store,
                run_id=name,
            )

    def get(self, path: str, status: int = 200, **query: str) -> str:
        answer = self.client.get(f"{path}?{urlencode(query)}")
        assert answer.status_code == status, answer.text[:2_000]
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    found = Lab(tmp_path)
    set_baseline(at(found.site.store), "release", "old")
    return found


def test_the_default_rule_is_decided_against_a_run_or_a_name(lab: Lab) -> None:
    for against in ("old", "release"):
        shown = lab.get("/gate", run="bad", against=against)
        assert "✗ NO-GO At least one rule is shown to be broken." in shown
        assert "main metric not worse by more than 5 points" in shown
    assert "? INCONCLUSIVE" in lab.get("/gate", run="new", against="old")
    assert "不通过 NO-GO" in lab.get("/gate", run="bad", against="old", lang="zh")


def test_the_link_to_pass_on_chooses_no_language_and_no_colours_for_others(lab: Lab) -> None:
    html = lab.client.get("/gate?run=bad&against=old&lang=zh&theme=dark").text
    assert re.search(r'id="gate-link" readonly value="http://[^"]+/gate\?run=bad&amp;against=old"', html)


def test_the_policy_next_to_the_store_decides(lab: Lab) -> None:
    (lab.folder / "gate.toml").write_text('[[rule]]\nmetric = "accuracy"\nat_least = 0.8\n')
    assert "✓ GO" in lab.get("/gate", run="new")
    (lab.folder / "gate.toml").write_text('[[rule]]\nmetric = "acuracy"\nat_least = 0.8\n')
    assert "gate.toml:1: No metric is called 'acuracy'" in (lab.get("/gate", run="new", status=400))


def test_what_is_missing_is_asked_for(lab: Lab) -> None:
    shown = lab.get("/gate", run="new")
    assert "Choose a run" in shown
    assert "release · old" in shown
    assert lab.client.get("/api/v1/gate?run=new").status_code == 400
    lab.get("/gate", run="nobody", status=404)
    assert "/gate?run=new&amp;against=old" in lab.client.get("/compare?run=old&run=new").text


def test_programs_get_the_same(lab: Lab) -> None:
    found = lab.client.get("/api/v1/gate?run=bad&against=release").json()
    assert (found["decision"], found["against"], found["rules"][0]["decision"]) == ("no_go", "old", "no_go")
    assert lab.client.get("/api/v1/gate?run=nobody").status_code == 404


def test_values_lie_on_one_axis_by_their_distance_from_the_limit(lab: Lab) -> None:
    rules = [
        '[[rule]]\nmetric = "accuracy"\nat_least = 0.8\n',
        '[[rule]]\nmetric = "failed"\nat_most = 0.2\n',
    ]
    (lab.folder / "gate.toml").write_text("".join(rules))
    run, site = open_workspace((lab.site.store,)).find_run("bad"), "https://x.example/gate?run=bad"
    laid = lay_out(gate(Run(run.record, run.store), policy=policy_of(run)), "en", site)
    accuracy, failed = laid.lines
    assert accuracy.at is not None
    assert accuracy.low <= accuracy.at <= accuracy.high < 50  # 25 % where 80 % are asked for
    assert failed.at is not None
    assert failed.low <= failed.at == 50 + 50 * 20 / laid.reach  # none failed: 20 points on the good side
    assert laid.comment.endswith(f"[May it ship?]({site})\n")
