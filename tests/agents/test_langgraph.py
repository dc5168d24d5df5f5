import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from echoes import library
from played import answer, conversations, outline, played

import proctor
from proctor.agents import function
from proctor.core.errors import AgentFailed, BadInput, MissingExtra, ProviderFailed
from proctor.core.sample import Message, Reasoning, Turn
from proctor.core.trajectory import Trajectory
from proctor_adapters.agents import langgraph
from proctor_adapters.agents._library_agents import LibraryOptions

library("langgraph", "langgraph")

from langchain_core.callbacks import CallbackManagerForLLMRun  # noqa: E402
from langchain_core.language_models import BaseChatModel  # noqa: E402
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage  # noqa: E402
from langchain_core.output_parsers import StrOutputParser  # noqa: E402
from langchain_core.outputs import ChatGeneration, ChatResult  # noqa: E402
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder  # noqa: E402
from langchain_core.runnables import RunnableLambda  # noqa: E402
from langchain_core.tools import tool  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402
from langgraph.func import entrypoint  # noqa: E402
from langgraph.graph import END, START, MessagesState, StateGraph  # noqa: E402
from langgraph.prebuilt import ToolNode, tools_condition  # noqa: E402
from langgraph.types import Command, Send, interrupt  # noqa: E402

Said = str | AIMessage | Exception


class Scripted(BaseChatModel):
    """Says what it is told to, in order, or what a function makes of the messages."""

    script: Any
    asked: Any

    def __init__(self, *script: Said, by: Callable[[Sequence[BaseMessage]], Said] | None = None) -> None:
        super().__init__(script=by or list(script), asked=[])  # type: ignore[call-arg]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        self.asked.append(list(messages))
        said = self.script(messages) if callable(self.script) else self.script.pop(0)
        if isinstance(said, Exception):
            raise said
        message = AIMessage(said) if isinstance(said, str) else said
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    if a == 13:
        raise ValueError("unlucky")
    return a + b


def calls(*given: tuple[str, dict[str, Any], str], text: str = "", tokens: int = 0) -> AIMessage:
    used = {"input_tokens": tokens, "output_tokens": 2, "total_tokens": tokens + 2} if tokens else None
    return AIMessage(
        text,
        tool_calls=[{"name": name, "args": arguments, "id": id} for name, arguments, id in given],
        usage_metadata=used,
    )


def react(model: BaseChatModel, name: str | None = None, **compiled: Any) -> Any:
    """The usual loop of a model and its tools."""

    def think(state: MessagesState) -> dict[str, list[AnyMessage]]:
        reply = model.invoke(state["messages"])
        reply.name = name
        return {"messages": [reply]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode([add], handle_tool_errors=True))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    return graph.compile(**compiled)


async def test_calls_results_and_answer_are_steps_in_order() -> None:
    model = Scripted(
        calls(("add", {"a": 1, "b": 2}, "c1"), ("add", {"a": 13, "b": 0}, "c2"), text="Let me see.", tokens=10),
        calls(("add", {"a": 3, "b": 3}, "c3"), tokens=20),
        AIMessage("Six."),
    )
    [steps] = await played(function.wrap(react(model, "adder")), "What is 1 + 2 + 3?")
    assert outline(steps) == [
        ("adder", 'Let me see. add({"a": 1, "b": 2})#c1, add({"a": 13, "b": 0})#c2'),
        ("tool", "add -> 3#c1"),
        ("tool", "add -> error: Error: ValueError('unlucky')\n Please fix your mistakes.#c2"),
        ("adder", 'add({"a": 3, "b": 3})#c3'),
        ("tool", "add -> 6#c3"),
        ("adder", "Six."),
    ]
    usage = Trajectory(steps=tuple(steps)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.requests) == (30, 4, 3)
    assert all(step.started for step in steps)
    assert all(step.seconds > 0 for step in steps)


async def test_a_call_id_that_comes_again_is_another_call() -> None:
    model = Scripted(
        calls(("add", {"a": 1, "b": 1}, "same")), calls(("add", {"a": 2, "b": 2}, "same")), AIMessage("done")
    )
    [steps] = await played(function.wrap(react(model)), "?")
    assert [text for _, text in outline(steps)] == [
        'add({"a": 1, "b": 1})#same',
        "add -> 2#same",
        'add({"a": 2, "b": 2})#same',
        "add -> 4#same",
        "done",
    ]


@pytest.mark.parametrize("checkpointer", [None, InMemorySaver()])
async def test_the_state_is_kept_from_turn_to_turn_and_for_one_sample_alone(checkpointer: Any) -> None:
    model = Scripted(by=lambda messages: " | ".join(message.text for message in messages))
    agent = function.wrap(react(model, checkpointer=checkpointer))
    first, second = await played(agent, "one", "two", system="Be brief.")
    assert outline(first) == [("think", "Be brief. | one")]
    assert outline(second) == [("think", "Be brief. | one | Be brief. | one | two")]
    assert isinstance(model.asked[0][0], SystemMessage)
    [other] = await played(agent, "three")
    assert answer(other) == "three"


async def test_other_keys_of_the_state_are_kept_too() -> None:
    class Counting(MessagesState):
        count: int

    def reply(state: Counting) -> dict[str, Any]:
        count = state.get("count", 0) + 1
        return {"count": count, "messages": [AIMessage(f"turn {count}")]}

    graph = StateGraph(Counting)
    graph.add_node("reply", reply)
    graph.add_edge(START, "reply")
    turns = await played(function.wrap(graph.compile()), "a", "b", "c")
    assert [answer(steps) for steps in turns] == ["turn 1", "turn 2", "turn 3"]


async def test_agents_that_hand_over_to_each_other_speak_under_their_names() -> None:
    @tool
    def transfer_to_math() -> Command[str]:
        """Hand over."""
        from langchain_core.messages import ToolMessage

        told = ToolMessage("over to math", name="transfer_to_math", tool_call_id="h1")
        return Command(goto="math", graph=Command.PARENT, update={"messages": [call, told]})

    call = calls(("transfer_to_math", {}, "h1"))
    front = StateGraph(MessagesState)
    front.add_node("think", lambda state: {"messages": [Scripted(call).invoke(state["messages"])]})
    front.add_node("tools", ToolNode([transfer_to_math]))
    front.add_edge(START, "think")
    front.add_conditional_edges("think", tools_condition)
    whole = StateGraph(MessagesState)
    whole.add_node("front", front.compile(), destinations=("math", END))
    whole.add_node("math", react(Scripted(calls(("add", {"a": 1, "b": 2}, "c1")), AIMessage("three"))))
    whole.add_edge(START, "front")
    [steps] = await played(function.wrap(whole.compile()), "1 + 2?")
    assert outline(steps) == [
        ("front", "transfer_to_math({})#h1"),
        ("tool", "transfer_to_math -> over to math#h1"),
        ("math", 'add({"a": 1, "b": 2})#c1'),
        ("tool", "add -> 3#c1"),
        ("math", "three"),
    ]


async def test_a_tool_that_a_node_calls_itself_is_a_call_too() -> None:
    def look_up(state: MessagesState) -> dict[str, Any]:
        total = add.invoke({"a": 20, "b": 22})
        return {"messages": [AIMessage(f"It is {total}.")]}

    graph = StateGraph(MessagesState)
    graph.add_node("look_up", look_up)
    graph.add_edge(START, "look_up")
    [steps] = await played(function.wrap(graph.compile()), "?")
    call, result, said = steps
    assert call.message.calls[0].name == "add"
    assert call.message.calls[0].arguments == {"a": 20, "b": 22}
    assert result.message.parts[0].id == call.message.calls[0].id  # type: ignore[union-attr]
    assert result.message.parts[0].content == "42"  # type: ignore[union-attr]
    assert said.message.text == "It is 42."


@pytest.mark.parametrize("streams", [True, False])
async def test_an_agent_that_is_a_tool_is_one_call_whose_tokens_count(streams: bool) -> None:
    inner = react(Scripted(calls(("add", {"a": 1, "b": 2}, "i1"), tokens=5), calls(text="3", tokens=4)))

    @tool
    async def adder(question: str) -> str:
        """Ask an agent."""
        given = {"messages": [HumanMessage(question)]}
        if streams:
            return str([one async for one in inner.astream(given, stream_mode="values")][-1]["messages"][-1].content)
        return str((await inner.ainvoke(given))["messages"][-1].content)

    def outer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    model = Scripted(calls(("adder", {"question": "1+2?"}, "c1"), tokens=7), calls(text="It is 3.", tokens=3))
    graph = StateGraph(MessagesState)
    graph.add_node("agent", outer)
    graph.add_node("tools", ToolNode([adder]))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    [steps] = await played(function.wrap(graph.compile()), "1+2?")
    made = Trajectory(steps=tuple(steps))
    assert [call.name for call in made.calls()] == ["adder"]
    assert [step.message.text for step in made.steps if step.message.text] == ["It is 3."]
    assert made.answer == "It is 3."
    assert made.usage.requests == 4


async def test_what_a_router_asks_its_model_costs_but_is_no_step() -> None:
    router = Scripted(calls(tokens=5, text="math"))

    def route(state: MessagesState) -> dict[str, Any]:
        router.invoke(state["messages"])
        return {}

    graph = StateGraph(MessagesState)
    graph.add_node("route", route)
    graph.add_node("reply", lambda state: {"messages": [AIMessage("done")]})
    graph.add_edge(START, "route")
    graph.add_edge("route", "reply")
    [steps] = await played(function.wrap(graph.compile()), "?")
    assert outline(steps) == [("reply", "done")]
    assert steps[0].usage is not None
    assert (steps[0].usage.requests, steps[0].usage.input_tokens) == (1, 5)


async def test_thoughts_are_kept_apart_in_every_form() -> None:
    model = Scripted(
        AIMessage(
            [
                {"type": "thinking", "thinking": "first"},
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "second"}]},
                {"type": "text", "text": "<think>third</think>Four."},
            ],
            additional_kwargs={"reasoning_content": "fourth"},
            response_metadata={"finish_reason": "length"},
        )
    )
    [[step]] = await played(function.wrap(react(model)), "?")
    thoughts = [part.text for part in step.message.parts if isinstance(part, Reasoning)]
    assert thoughts == ["first", "second", "fourth", "third"]
    assert step.message.text == "Four."
    assert step.stop == "length"


async def test_an_interrupt_is_put_to_the_user_and_the_next_turn_answers_it() -> None:
    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"You said {interrupt('Which city?')}.")]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    agent = function.wrap(graph.compile(checkpointer=InMemorySaver()))
    first, second = await played(agent, "Weather?", "Oslo")
    assert answer(first) == "Which city?"
    assert outline(second) == [("ask", "You said Oslo.")]


async def test_a_graph_that_loops_stops_at_the_step_limit(tmp_path: Path) -> None:
    model = Scripted(by=lambda messages: calls(("add", {"a": len(messages), "b": 1}, f"c{len(messages)}")))
    agent = langgraph.wrap(react(model), name="loop", options=LibraryOptions(max_steps=3))
    [steps] = await played(agent, "?")
    assert len(model.asked) == 3
    assert steps[-1].stop == "step_limit"
    assert len(Trajectory(steps=tuple(steps)).calls()) == 3

    run = await proctor.evaluate_async(
        conversations(1, turns=1), agent=react(model), limits=proctor.Limits(steps=4), store=str(tmp_path / "runs.db")
    )
    assert len(model.asked) == 7
    [trial] = run.trials()
    assert (trial.outcome, trial.failure.kind if trial.failure else "") == ("agent_failed", "step_limit")


async def test_a_graph_without_a_model_that_loops_stops_too() -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("again", lambda state: {"messages": [AIMessage("again")]})
    graph.add_edge(START, "again")
    graph.add_edge("again", "again")
    [steps] = await played(langgraph.wrap(graph.compile(), name="loop", options=LibraryOptions(max_steps=2)), "?")
    assert steps[-1].stop == "step_limit"


class RateLimitError(Exception):
    """As the client of a provider raises it."""

    status_code = 429


RateLimitError.__module__ = "openai"


async def test_what_is_raised_is_the_agents_fault_or_the_providers() -> None:
    with pytest.raises(AgentFailed, match="ValueError: no idea"):
        await played(function.wrap(react(Scripted(ValueError("no idea")))), "?")
    with pytest.raises(ProviderFailed, match="slow down") as caught:
        await played(function.wrap(react(Scripted(RateLimitError("slow down")))), "?")
    assert caught.value.kind == "http_429"


async def test_steps_made_before_the_time_limit_are_not_lost() -> None:
    async def sleep(state: MessagesState) -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    graph = StateGraph(MessagesState)
    graph.add_node("quick", lambda state: {"messages": [AIMessage("so far")]})
    graph.add_node("slow", sleep)
    graph.add_edge(START, "quick")
    graph.add_edge("quick", "slow")
    async with function.wrap(graph.compile()).open(conversations(1).samples[0], None) as session:  # type: ignore[index]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await session.send(Turn(messages=(Message.of("user", "?"),)))
        assert outline(session.received) == [("quick", "so far")]  # type: ignore[attr-defined]


async def test_a_checkpointer_that_is_not_async_is_used_from_a_thread() -> None:
    class Plain(InMemorySaver):
        async def aget_tuple(self, config: Any) -> Any:
            raise NotImplementedError("not async")

    model = Scripted(by=lambda messages: f"{len(messages)} messages")
    turns = await played(function.wrap(react(model, checkpointer=Plain())), "a", "b")
    assert [answer(steps) for steps in turns] == ["1 messages", "3 messages"]


async def test_any_runnable_gets_what_its_input_schema_asks_for() -> None:
    def ask(text: str) -> str:
        return text.upper()

    def shout(given: dict[str, Any]) -> dict[str, str]:
        return {"output": given["question"] + "!"}

    history = ChatPromptTemplate.from_messages(
        [("system", "Be brief."), MessagesPlaceholder("chat_history"), ("human", "{question}")]
    )
    echo = Scripted(by=lambda messages: " | ".join(message.text for message in messages))
    runnables: dict[str, Any] = {
        "a function": RunnableLambda(ask),
        "a model": echo,
        "a chain": history | echo | StrOutputParser(),
        "a dict": RunnableLambda(shout),
        "a workflow": entrypoint()(ask),
    }
    answers = {
        name: [answer(steps) for steps in await played(function.wrap(runnable), "one", "two")]
        for name, runnable in runnables.items()
    }
    assert answers == {
        "a function": ["ONE", "TWO"],
        "a model": ["one", "one | one | two"],
        "a chain": ["Be brief. | one", "Be brief. | one | Be brief. | one | two"],
        "a dict": ["one!", "two!"],
        "a workflow": ["ONE", "TWO"],
    }


async def test_the_models_and_tools_inside_a_runnable_are_its_steps() -> None:
    model = Scripted(calls(("add", {"a": 1, "b": 2}, "c1"), tokens=7))

    def work(text: str) -> str:
        reply = model.invoke([HumanMessage(text)])
        assert isinstance(reply, AIMessage)
        return f"It is {add.invoke(reply.tool_calls[0]).content}."

    [steps] = await played(function.wrap(RunnableLambda(work)), "1 + 2?")
    assert outline(steps) == [
        ("agent", 'add({"a": 1, "b": 2})#c1'),
        ("tool", "add -> 3#c1"),
        ("agent", "It is 3."),
    ]
    assert Trajectory(steps=tuple(steps)).usage.input_tokens == 7


async def test_a_runnable_that_wants_more_than_a_question_is_refused() -> None:
    chain = ChatPromptTemplate.from_messages([("human", "{question} in {language}")]) | Scripted("x")
    with pytest.raises(BadInput, match="language, question"):
        await played(function.wrap(chain), "?")


def test_each_case_and_turn_asks_the_agent_once() -> None:
    model = Scripted(by=lambda messages: str(messages[-1].text))
    run = proctor.evaluate(conversations(5, turns=2), agent=react(model), concurrency=4)
    assert run.outcomes["scored"] == 5
    assert run.estimate("accuracy").value == 1
    assert len(model.asked) == 10
    assert run.usage.requests == 10


def test_a_graph_is_found_by_path_and_takes_a_step_limit(tmp_path: Path) -> None:
    path = tmp_path / "agent.py"
    path.write_text("import echoes\ngraph = echoes.langgraph()\nother = 3\n", encoding="utf-8")
    run = proctor.evaluate(conversations(2), agent=f"{path}:graph")
    assert run.outcomes["scored"] == 2
    agent = langgraph.make(f"{path}:graph", {"max_steps": "3"})
    assert agent.name == f"langgraph:{path}:graph"
    with pytest.raises(BadInput, match="no agent of langchain_core: it is int"):
        langgraph.make(f"{path}:other", {})
    with pytest.raises(BadInput, match=r"no option 'max_step'\. Did you mean 'max_steps'"):
        langgraph.make(f"{path}:graph", {"max_step": 3})


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "langchain_core", None)
    with pytest.raises(MissingExtra, match=r"langgraph: needs the extra 'langgraph'.*\[langgraph\]"):
        langgraph.make("./agent.py:graph", {})


async def test_samples_run_beside_each_other() -> None:
    all_twenty = asyncio.Barrier(20)

    async def reply(state: MessagesState) -> dict[str, Any]:
        async with asyncio.timeout(20):
            await all_twenty.wait()
        return {"messages": [AIMessage("done")]}

    graph = StateGraph(MessagesState)
    graph.add_node("reply", reply)
    graph.add_edge(START, "reply")
    agent = function.wrap(graph.compile())
    assert all(await asyncio.gather(*(played(agent, "?") for _ in range(20))))


async def _played(agent: Any, folder: Path, **given: Any) -> Any:
    run = await proctor.evaluate_async(conversations(1, 1), agent=agent, store=str(folder / "runs.db"), **given)
    [trial] = run.trials()
    return trial


@pytest.mark.parametrize(
    ("approve", "outcome", "says"),
    [(None, "awaiting_approval", "Really?"), ("all", "scored", "True"), ("none", "scored", "False")],
)
async def test_a_question_that_no_turn_answers_is_decided_by_the_policy(
    approve: str | None, outcome: str, says: str, tmp_path: Path
) -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("ask", lambda state: {"messages": [AIMessage(str(interrupt({"question": "Really?"})))]})
    graph.add_edge(START, "ask")
    trial = await _played(graph.compile(checkpointer=InMemorySaver()), tmp_path, approve=approve)
    assert trial.outcome == outcome
    assert says in trial.trajectory.answer
    assert [(one.call.name, one.hint) for one in trial.trajectory.approvals] == [
        ("interrupt", '{"question": "Really?"}')
    ]


def _asking(deleted: list[str], **compiled: Any) -> Any:
    """Two tools that ask for themselves, each in a task of its own as of the prebuilt agent, in a graph inside another."""

    @tool
    def delete(path: str) -> str:
        """Delete a file."""
        if not interrupt(f"Delete {path}?"):
            return "kept"
        deleted.append(path)
        return "gone"

    @tool
    def send(to: str) -> str:
        """Send a letter."""
        return (
            "sent"
            if interrupt([{"action_request": {"action": "send", "args": {"to": to}}, "config": {}}])[0]["type"]
            == "accept"
            else "not sent"
        )

    model = Scripted(calls(("delete", {"path": "a"}, "c1"), ("send", {"to": "Ada"}, "c2")), AIMessage("Done."))
    graph = StateGraph(MessagesState)
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([delete, send]))
    graph.add_edge(START, "think")
    graph.add_conditional_edges(
        "think", lambda state: [Send("tools", [call]) for call in state["messages"][-1].tool_calls] or END
    )
    graph.add_edge("tools", "think")
    outer = StateGraph(MessagesState)
    outer.add_node("inner", graph.compile())
    outer.add_edge(START, "inner")
    return outer.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize("approve", ["all", "none", "delete", "send", None])
async def test_tools_that_ask_for_themselves_are_known_by_name(approve: str | None, tmp_path: Path) -> None:
    deleted: list[str] = []
    trial = await _played(_asking(deleted), tmp_path, approve=approve)
    texts = [text for _, text in outline(trial.trajectory.steps)]
    assert texts[0] == 'delete({"path": "a"})#c1, send({"to": "Ada"})#c2'
    if approve is None:
        assert (trial.outcome, texts[1:], deleted) == ("awaiting_approval", [], [])
        return
    assert {(one.call.name, one.approved) for one in trial.trajectory.approvals} == {
        ("delete", approve in ("all", "delete")),
        ("send", approve in ("all", "send")),
    }
    assert deleted == (["a"] if approve in ("all", "delete") else [])
    assert sorted(texts[1:-1]) == [
        f"delete -> {'gone' if deleted else 'kept'}#c1",
        f"send -> {'sent' if approve in ('all', 'send') else 'not sent'}#c2",
    ]
    assert texts[-1] == "Done."


@pytest.mark.parametrize(
    ("approve", "results"),
    [
        (None, []),
        ("all", ["add -> 3#c1"]),
        ("none", ["add -> error: This call was denied.#c1"]),
    ],
)
async def test_a_breakpoint_waits_too(approve: str | None, results: list[str], tmp_path: Path) -> None:
    model = Scripted(calls(("add", {"a": 1, "b": 2}, "c1")), AIMessage("Done."))
    graph = react(model, checkpointer=InMemorySaver(), interrupt_before=["tools"])
    trial = await _played(graph, tmp_path, approve=approve)
    assert trial.outcome == ("scored" if results else "awaiting_approval")
    texts = [text for _, text in outline(trial.trajectory.steps)]
    assert texts[1:] == ([*results, "Done."] if results else [])
    assert [one.call.name for one in trial.trajectory.approvals] == ["add"]


async def test_a_question_of_a_tool_is_answered_by_the_next_turn() -> None:
    @tool
    def delete(path: str) -> str:
        """Delete a file."""
        return f"{path}: {interrupt(f'Delete {path}?')}"

    model = Scripted(calls(("delete", {"path": "a"}, "c1")), AIMessage("Done."))
    graph = StateGraph(MessagesState)
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([delete]))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    first, second = await played(function.wrap(graph.compile(checkpointer=InMemorySaver())), "Go.", "yes")
    assert [text for _, text in outline(first)] == ['delete({"path": "a"})#c1', "Delete a?"]
    assert [text for _, text in outline(second)] == ["delete -> a: yes#c1", "Done."]
