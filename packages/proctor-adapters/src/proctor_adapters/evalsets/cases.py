"""Change a set: add, replace and delete cases, merge and split sets. Nothing is written here."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor_adapters.evalsets.noun import as_json
from proctor_adapters.evalsets.schema import (
    Content,
    ConversationScenario,
    EvalCase,
    EvalSet,
    FunctionCall,
    IntermediateData,
    Invocation,
    Part,
    SessionInput,
)


def find(eval_set: EvalSet, case_id: str) -> EvalCase:
    """Return the case with an id.

    Raises:
        BadInput: there is none; the nearest id is named.
    """
    for case in eval_set.eval_cases:
        if case.eval_id == case_id:
            return case
    ids = [case.eval_id for case in eval_set.eval_cases]
    near = get_close_matches(case_id, ids, n=1)
    raise BadInput(
        "The set '{set}' has no case '{id}'.{near} It has: {ids}.",
        set=eval_set.eval_set_id,
        id=case_id,
        near=say(" Did you mean '{near}'?", near=near[0]) if near else "",
        ids=", ".join(ids[:20]) + (", …" if len(ids) > 20 else "") or "-",
    )


def add(eval_set: EvalSet, case: EvalCase) -> EvalSet:
    """Return the set with one more case.

    Raises:
        BadInput: its id is taken.
    """
    if any(each.eval_id == case.eval_id for each in eval_set.eval_cases):
        raise BadInput("The set '{set}' has a case '{id}' already.", set=eval_set.eval_set_id, id=case.eval_id)
    return replace(eval_set, eval_cases=[*eval_set.eval_cases, case])


def put(eval_set: EvalSet, case_id: str, case: EvalCase) -> EvalSet:
    """Return the set with a case replaced; the new one may have another id, if that is free.

    Raises:
        BadInput: there is no such case, or the new id is taken.
    """
    find(eval_set, case_id)
    if case.eval_id != case_id and any(each.eval_id == case.eval_id for each in eval_set.eval_cases):
        raise BadInput("The set '{set}' has a case '{id}' already.", set=eval_set.eval_set_id, id=case.eval_id)
    return replace(eval_set, eval_cases=[case if each.eval_id == case_id else each for each in eval_set.eval_cases])


def delete(eval_set: EvalSet, case_ids: Sequence[str]) -> EvalSet:
    """Return the set without some cases.

    Raises:
        BadInput: there is no such case.
    """
    for case_id in case_ids:
        find(eval_set, case_id)
    return replace(eval_set, eval_cases=[case for case in eval_set.eval_cases if case.eval_id not in case_ids])


def merge(sets: Sequence[EvalSet], set_id: str) -> EvalSet:
    """Return a set with all cases, in order.

    Raises:
        BadInput: two cases have the same id.
    """
    owner: dict[str, str] = {}
    for eval_set in sets:
        for case in eval_set.eval_cases:
            if case.eval_id in owner:
                raise BadInput(
                    "The case '{id}' is both in '{first}' and in '{second}'. Give one of them another id.",
                    id=case.eval_id,
                    first=owner[case.eval_id],
                    second=eval_set.eval_set_id,
                )
            owner[case.eval_id] = eval_set.eval_set_id
    extra = {key: value for eval_set in sets for key, value in eval_set.extra.items()}
    return EvalSet(
        eval_set_id=set_id,
        name=set_id,
        eval_cases=[case for eval_set in sets for case in eval_set.eval_cases],
        extra=extra,
    )


def split(eval_set: EvalSet, parts: int) -> list[EvalSet]:
    """Split the set into `parts` of nearly equal size, each with consecutive cases.

    Raises:
        BadInput: fewer cases than parts.
    """
    count = len(eval_set.eval_cases)
    if not 1 <= parts <= count:
        raise BadInput("{count} cases cannot be split into {parts} parts.", count=count, parts=parts)
    edges = [count * part // parts for part in range(parts + 1)]
    return [
        replace(
            eval_set,
            eval_set_id=f"{eval_set.eval_set_id}_{part + 1}",
            name=f"{eval_set.name or eval_set.eval_set_id}_{part + 1}",
            eval_cases=eval_set.eval_cases[edges[part] : edges[part + 1]],
        )
        for part in range(parts)
    ]


def new_case(
    case_id: str, ask: str, answer: str | None, calls: Sequence[tuple[str, Mapping[str, object]]] | None
) -> EvalCase:
    """Return a case of one turn."""
    return change_first_turn(
        EvalCase(eval_id=case_id, conversation=[Invocation(user_content=Content())]), ask, answer, calls
    )


def change_first_turn(
    case: EvalCase, ask: str | None, answer: str | None, calls: Sequence[tuple[str, Mapping[str, object]]] | None
) -> EvalCase:
    """Return a case with other words, another answer or other calls in its first turn.

    Raises:
        BadInput: it has no turn.
    """
    if not case.conversation:
        raise BadInput("The case '{id}' has no turn that could be changed.", id=case.eval_id)
    first, *rest = case.conversation
    if ask is not None:
        first = replace(first, user_content=Content(parts=[Part(text=ask)], role="user"))
    if answer is not None:
        first = replace(first, final_response=Content(parts=[Part(text=answer)], role="model"))
    if calls is not None:
        function_calls = [FunctionCall(name=name, args=dict(arguments)) for name, arguments in calls]
        first = replace(first, intermediate_data=IntermediateData(tool_uses=function_calls))
    return replace(case, conversation=[first, *rest])


def of_scenarios(scenarios: Sequence[ConversationScenario], session: SessionInput | None) -> list[EvalCase]:
    """Return a case for each scenario, with the id that `adk eval_set add_eval_case` gives it; equal scenarios are one case."""
    cases: dict[str, EvalCase] = {}
    for scenario in scenarios:
        plain = {"user_persona": None, **as_json(scenario)}
        eval_id = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:8]
        cases[eval_id] = EvalCase(
            eval_id=eval_id, conversation_scenario=scenario, session_input=session, creation_timestamp=time.time()
        )
    return [*cases.values()]


def add_missing(eval_set: EvalSet, new: Sequence[EvalCase]) -> EvalSet:
    """Return the set with the new cases added whose ids are not in it yet."""
    known = {case.eval_id for case in eval_set.eval_cases}
    return replace(eval_set, eval_cases=[*eval_set.eval_cases, *(case for case in new if case.eval_id not in known)])


def with_session(eval_set: EvalSet, session: SessionInput) -> EvalSet:
    """Return the set with a session for every case that has none."""
    cases = [
        case if case.session_input is not None else replace(case, session_input=session) for case in eval_set.eval_cases
    ]
    return replace(eval_set, eval_cases=cases)
