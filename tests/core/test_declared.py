"""What parts say of themselves in plain attributes."""

from typing import Any

import pytest

from proctor.core.declared import AgentInfo, ModelInfo, ScorerInfo, SessionInfo, checked, declared, scorer
from proctor.core.errors import BadInput


def rule(sample: Any, trajectory: Any) -> bool:
    return bool(sample == trajectory)


def with_attributes(**attributes: Any) -> Any:
    """Return a function of its own that has these attributes."""

    def function(sample: Any, trajectory: Any) -> bool:
        return rule(sample, trajectory)

    vars(function).update(attributes)
    return function


class Plain:
    """An object with these attributes."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


def test_plain_attributes_and_the_decorator_say_the_same() -> None:
    decorated = scorer(version="2", inline=False)(with_attributes())
    assert checked(ScorerInfo, decorated, "mine") == checked(
        ScorerInfo, with_attributes(version="2", inline=False), "mine"
    )
    assert checked(ScorerInfo, rule, "mine") == ScorerInfo()


@pytest.mark.parametrize("attribute", ["inlnie", "inlin", "Inline", "versions", "verison", "is_asinc"])
def test_a_misspelt_attribute_of_a_function_names_the_nearest(attribute: str) -> None:
    with pytest.raises(
        BadInput, match=f"'mine' has an attribute '{attribute}'.* Did you mean '(inline|version|is_async)'"
    ):
        checked(ScorerInfo, with_attributes(**{attribute: "x"}), "mine")


@pytest.mark.parametrize(
    ("kind", "attribute", "meant"),
    [
        (ScorerInfo, "inlnie", "inline"),
        (AgentInfo, "concurency", "concurrency"),
        (AgentInfo, "reports_csot", "reports_cost"),
        (ModelInfo, "bouneded", ""),
        (ModelInfo, "bonded", "bounded"),
        (SessionInfo, "sttae", "state"),
    ],
)
def test_a_slip_in_an_attribute_of_an_object_is_refused(kind: Any, attribute: str, meant: str) -> None:
    if not meant:
        checked(kind, Plain(**{attribute: 1}), "mine")
        return
    with pytest.raises(BadInput, match=f"Did you mean '{meant}'"):
        checked(kind, Plain(**{attribute: 1}), "mine")


def test_a_slip_in_a_class_is_refused_too() -> None:
    class Mine:
        inlnie = False

    with pytest.raises(BadInput, match="Did you mean 'inline'"):
        checked(ScorerInfo, Mine(), "mine")


@pytest.mark.parametrize(
    "attribute", ["judges", "names", "named", "mode", "mean", "image", "online", "tool", "_inlnie", "seeds"]
)
def test_what_an_object_has_of_its_own_is_left_alone(attribute: str) -> None:
    for kind in (ScorerInfo, AgentInfo, ModelInfo, SessionInfo):
        checked(kind, Plain(**{attribute: 1}), "mine")


@pytest.mark.parametrize(
    ("kind", "attributes", "message"),
    [
        (ScorerInfo, {"inline": "no"}, "inline"),
        (ScorerInfo, {"version": ("1", "2")}, "version"),
        (AgentInfo, {"concurrency": 0}, "concurrency"),
        (ModelInfo, {"seed": "one"}, "seed"),
    ],
)
def test_an_attribute_of_another_type_is_refused(kind: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=f"'mine' has an attribute of another type: .*{message}"):
        checked(kind, Plain(**attributes), "mine")


def test_a_model_that_is_no_text_is_the_agents_own_affair() -> None:
    assert checked(AgentInfo, Plain(model=object()), "mine").concurrency is None
    assert declared(AgentInfo, Plain(concurrency=None)) == AgentInfo()
