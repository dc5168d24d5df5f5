"""The page that walks through findings of a run: kinds with how often people found them right, labels, hostile text, mistakes."""

import html
import json
import pickle
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import inspected
import pytest
from click.testing import CliRunner
from inspected import CLAIM, CLAIMS, LOOPS, RUN
from review_site import csrf
from starlette.testclient import TestClient
from web_site import AppSite

from proctor.cli import app
from proctor_audit.inspector.trial_labels import label_file
from proctor_web.inspecting.excerpts import TextPart, mark_spans
from proctor_web.inspecting.findings import (
    EventLabel,
    InspectionOfRun,
    inspect_run,
    label_finding,
    list_findings,
)
from proctor_web.workspace import NotFound, StillComputing

PAGE = f"/runs/{RUN}/findings"
CLAIM_CHECK = "claim-without-evidence"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppSite]:
    monkeypatch.setattr("proctor_web.comparing.background.SECONDS", 60.0)
    inspected.write(tmp_path)
    site = AppSite(tmp_path)
    yield site
    site.workspace.close()


def judge(client: TestClient, trial: str, happened: str, check: str = CLAIM_CHECK) -> str:
    """Send the form of a finding, and return the page that comes next."""
    fields = {"csrf": csrf(client, PAGE), "check": check, "trial": trial, "happened": happened}
    answer = client.post(PAGE, data=fields)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_kinds_are_listed_with_their_counts_and_the_strongest_class_is_open(site: AppSite) -> None:
    view = list_findings(site.workspace, InspectionOfRun(run=RUN), "")
    assert [(kind.check, kind.cls, kind.trials) for kind in view.kinds][:2] == [
        ("loop", "proved", LOOPS),
        (CLAIM_CHECK, "likely", CLAIMS),
    ]
    assert (view.check, view.flagged, view.trials) == ("loop", LOOPS + CLAIMS, 33)
    page = site.browser().get(PAGE).text
    assert "Findings in 13 of 33 trials" in page
    assert "not judged" in page


def test_the_words_that_a_finding_judges_are_marked_and_hostile_ones_are_text(site: AppSite) -> None:
    browser = site.browser()
    assert f"<mark>{CLAIM} W3</mark>" in browser.get(f"{PAGE}?check={CLAIM_CHECK}&trial=claim-3").text
    page = browser.get(f"{PAGE}?check={CLAIM_CHECK}&trial=claim-hostile").text
    assert f"<mark>{CLAIM} &lt;/pre&gt;&lt;script&gt;" in page
    assert "<script>alert" not in page


def test_precision_grows_with_each_label_and_the_next_finding_opens(site: AppSite) -> None:
    browser = site.browser("ann")
    findings = list_findings(site.workspace, InspectionOfRun(run=RUN, check=CLAIM_CHECK), "ann").findings
    first, second, third = (finding.trial for finding in findings[:3])
    page = judge(browser, first, "true")
    assert "right: 100.0%" in page
    assert f"1 of {CLAIMS} judged" in page
    assert f'name="trial" value="{second}"' in page
    page = judge(browser, second, "false")
    assert re.search(r"right: 50\.0%.*12\.5–87\.5%", page)
    assert f'name="trial" value="{third}"' in page
    page = judge(browser, second, "null")
    assert f"1 of {CLAIMS} judged" in page
    assert f'name="trial" value="{second}"' in page


def test_two_people_who_disagree_count_neither_way(site: AppSite) -> None:
    judge(site.browser("ann"), "claim-1", "true")
    page = judge(site.browser("bob"), "claim-1", "false")
    assert "people disagree" in page
    assert f"0 of {CLAIMS} judged · contested: 1" in page
    view = list_findings(site.workspace, InspectionOfRun(run=RUN, check=CLAIM_CHECK), "bob")
    kept = next(finding for finding in view.findings if finding.trial == "claim-1")
    assert (kept.said, kept.own) == ("contested", "did_not_happen")


def in_order(site: AppSite) -> list[str]:
    """Return the trials with a claim in their order of review."""
    view = list_findings(site.workspace, InspectionOfRun(run=RUN, check=CLAIM_CHECK), "")
    return [finding.trial for finding in view.findings]


def label(site: AppSite, trial: str, happened: bool, by: str = "ann") -> None:
    label_finding(site.workspace, EventLabel(run=RUN, check=CLAIM_CHECK, trial=trial, happened=happened), by)


def printed(store: str) -> str:
    return CliRunner().invoke(app, ["inspect", RUN, "--store", store, "--fail-on", "never"]).output


def test_the_terminal_reads_the_labels_of_the_page(site: AppSite) -> None:
    for trial, happened in zip(in_order(site), (True, True, False), strict=False):
        label(site, trial, happened)
    output = printed(site.store)
    assert f"people judged the first 3 of {CLAIMS} in the order of review: 66.7 % (25.0–87.5) right" in output
    assert "contested 0; not counted: 0 judged out of order, 0 changed since" in output
    assert "by 3 labels" not in output
    assert "not corrected" not in output


def test_what_is_judged_out_of_order_is_counted_and_does_not_speak_for_all(site: AppSite) -> None:
    first, second, _, fourth, fifth = in_order(site)[:5]
    for trial in (first, fourth, fifth):
        label(site, trial, True)
    label(site, second, True)
    label(site, second, False, "bob")
    kind = next(
        kind for kind in list_findings(site.workspace, InspectionOfRun(run=RUN), "").kinds if kind.check == CLAIM_CHECK
    )
    people = kind.people
    assert (people.in_order, people.judged, people.contested, people.out_of_order) == (2, 3, 1, 2)
    assert people.right is not None
    assert (people.right.scored, people.right.low, people.right.high) == (1, 1 / CLAIMS, 1.0)
    page = site.browser().get(f"{PAGE}?check={CLAIM_CHECK}").text
    assert "contested: 1" in page
    assert "out of order, not counted: 2" in page
    assert "contested 1; not counted: 2 judged out of order, 0 changed since" in printed(site.store)


def test_a_label_of_a_trial_or_finding_that_is_another_now_does_not_count(
    site: AppSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = in_order(site)[0]
    label(site, first, True)
    later = tmp_path / "later"
    later.mkdir()
    monkeypatch.setattr(inspected, "CLAIM", "I have just cancelled order")
    inspected.write(later)
    shutil.copytree(tmp_path / "runs.db.reviews", later / "runs.db.reviews")
    other = AppSite(later)
    view = list_findings(other.workspace, InspectionOfRun(run=RUN, check=CLAIM_CHECK), "ann")
    kind = next(kind for kind in view.kinds if kind.check == CLAIM_CHECK)
    assert (kind.people.judged, kind.people.changed, kind.people.right) == (0, 1, None)
    assert (view.findings[0].trial, view.findings[0].said, view.findings[0].own) == (first, None, None)
    page = other.browser().get(f"{PAGE}?check={CLAIM_CHECK}").text
    assert "not judged" in page
    assert "changed since they were judged: 1" in page
    assert "- right" in printed(other.store)
    assert "1 changed since" in printed(other.store)
    label(other, first, False)
    assert "0.0 % (0.0–87.5) right" in printed(other.store)
    other.workspace.close()


def test_a_label_of_a_finding_that_changed_while_it_was_open_is_refused(site: AppSite) -> None:
    browser = site.browser()
    page = browser.get(f"{PAGE}?check={CLAIM_CHECK}&trial=claim-1").text
    shown = re.search(r'name="digest" value="(\w+)"', page)
    assert shown is not None
    fields = {"csrf": csrf(browser, PAGE), "check": CLAIM_CHECK, "trial": "claim-1", "happened": "true"}
    assert "has changed since it was shown" in browser.post(PAGE, data={**fields, "digest": "0" * 16}).text
    assert f"of {CLAIMS} judged" not in browser.get(f"{PAGE}?check={CLAIM_CHECK}").text
    assert browser.post(PAGE, data={**fields, "digest": shown[1]}).status_code == 200
    assert f"1 of {CLAIMS} judged" in browser.get(f"{PAGE}?check={CLAIM_CHECK}").text


def test_a_file_of_labels_without_digests_counts_nowhere(site: AppSite) -> None:
    first = in_order(site)[0]
    label(site, first, True)
    found = site.workspace.find_run(RUN)
    file = label_file(found.store, found.record)
    records = json.loads(file.read_text(encoding="utf-8"))
    for entry in records[f"{CLAIM_CHECK}:{first}"]["reviews"]:
        del entry["item_digest"]
    file.write_text(json.dumps(records), encoding="utf-8")
    assert "1 changed since" in printed(site.store)


def test_what_was_not_found_cannot_be_opened_or_judged(site: AppSite) -> None:
    browser = site.browser()
    for query in ("check=refusal", "check=nothing", f"check={CLAIM_CHECK}&trial=sound-1"):
        assert browser.get(f"{PAGE}?{query}").status_code == 404
    assert browser.get(f"{PAGE}?chek=loop").status_code == 400
    with pytest.raises(NotFound, match="sound-1"):
        label_finding(site.workspace, EventLabel(run=RUN, check=CLAIM_CHECK, trial="sound-1", happened=True), "")
    fields = {"csrf": csrf(browser, PAGE), "check": CLAIM_CHECK, "trial": "claim-1", "happened": "perhaps"}
    assert browser.post(PAGE, data=fields).status_code == 400


def test_the_page_of_the_run_names_its_findings_in_one_line(site: AppSite) -> None:
    browser = site.browser()
    assert f'hx-get="{PAGE}?part=line"' in browser.get(f"/runs/{RUN}").text
    line = re.sub(r"<[^>]+>", "", html.unescape(browser.get(f"{PAGE}?part=line").text)).strip()
    assert line.startswith("Findings in 13 of 33 trials · loop 5 · claim-without-evidence 8")


def test_the_page_of_a_sample_names_what_was_found_in_it(site: AppSite) -> None:
    browser = site.browser()
    page = browser.get(f"/runs/{RUN}/samples/claim-3").text
    part = re.search(r'hx-get="(/runs/orders/findings[^"]+)"', page)
    assert part is not None
    line = browser.get(html.unescape(part[1])).text
    assert f'href="{PAGE}?check={CLAIM_CHECK}&amp;trial=claim-3"' in line
    assert browser.get(f"{PAGE}?part=line&trial=sound-3").text.strip() == ""


def test_a_second_attempt_and_a_sample_that_is_called_like_it_are_two_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor_web.comparing.background.SECONDS", 60.0)
    inspected.write(tmp_path, also=[("claim", 0), ("claim", 1), ("claim#1", 0)])
    site = AppSite(tmp_path)
    findings = list_findings(site.workspace, InspectionOfRun(run=RUN, check=CLAIM_CHECK), "").findings
    new = {(each.trial, each.sample, each.attempt) for each in findings if each.sample.partition("#")[0] == "claim"}
    assert new == {("claim", "claim", 0), ("claim#1", "claim", 1), ("claim##1", "claim#1", 0)}
    browser = site.browser()
    assert "This is request claim#1." in browser.get(f"{PAGE}?check={CLAIM_CHECK}&trial=claim%23%231").text
    page = browser.get(f"/runs/{RUN}/samples/claim%231").text
    part = re.search(r'hx-get="(/runs/orders/findings[^"]+)"', page)
    assert part is not None
    assert "trial=claim%23%231" in browser.get(html.unescape(part[1])).text
    site.workspace.close()


def test_a_large_run_is_not_inspected_unasked(site: AppSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor_web.inspecting.pages.MOST_UNASKED", 32)
    browser = site.browser()
    assert browser.get(f"{PAGE}?part=line").text.strip() == ""
    assert "Findings in 13 of 33 trials" in browser.get(PAGE).text


def test_a_sound_run_is_said_to_have_no_findings_and_not_to_be_sound(site: AppSite) -> None:
    site.run("first", wrong=())
    page = site.browser().get("/runs/first/findings").text
    assert "found nothing in 6 trials; that does not say that they are sound" in page


def test_a_page_that_waits_says_so(site: AppSite, monkeypatch: pytest.MonkeyPatch) -> None:
    def take_long(*_: object, **__: object) -> None:
        raise StillComputing

    monkeypatch.setattr("proctor_web.inspecting.pages.inspect_trials", take_long)
    assert 'hx-trigger="every' in site.browser().get(PAGE).text
    assert 'hx-trigger="load delay' in site.browser().get(f"{PAGE}?part=line").text


def test_who_may_only_look_is_shown_no_buttons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor_web.comparing.background.SECONDS", 60.0)
    inspected.write(tmp_path)
    site = AppSite(tmp_path, read_only=True)
    assert 'data-press="a"' not in site.browser().get(PAGE).text
    site.workspace.close()


def test_an_inspection_can_be_sent_from_another_process(site: AppSite) -> None:
    done = inspect_run([site.workspace.find_run(RUN)])
    assert pickle.loads(pickle.dumps(done)) == done


def test_of_a_long_text_the_part_around_the_words_is_shown() -> None:
    text = "a" * 5_000 + "HERE" + "b" * 5_000
    parts = mark_spans(text, ["HERE"], 100)
    assert [part for part in parts if part.marked] == [TextPart("HERE", marked=True)]
    assert sum(len(part.text) for part in parts) == 100 + len("… ") + len(" …")
    assert mark_spans("abc", ["x", ""], 100) == [TextPart("abc")]
