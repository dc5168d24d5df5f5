from collections.abc import Callable

import pytest

import proctor
from proctor.agents.agent_errors import agent_error, map_agent_errors
from proctor.core.errors import AgentFailed, BadInput, EndpointRefused, ProctorError, ProviderFailed, Undecided
from proctor.transport.faults import NotAccepted


def client_error(name: str, status: int | None, text: str = "as the server says", module: str = "openai") -> Exception:
    """An error as the client of a provider raises it."""
    kind = type(name, (Exception,), {"__module__": module, "status_code": status})
    made: Exception = kind(text)
    return made


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (client_error("RateLimitError", 429), ProviderFailed),
        (client_error("InternalServerError", 500), ProviderFailed),
        (client_error("APIConnectionError", None), ProviderFailed),
        (client_error("APIError", None), ProviderFailed),
        (client_error("OpenAIError", None, "the api_key option has to be set"), EndpointRefused),
        (client_error("APITimeoutError", None, module="anthropic._exceptions"), ProviderFailed),
        (client_error("AuthenticationError", 401), EndpointRefused),
        (client_error("NotFoundError", 404), EndpointRefused),
        (client_error("BadRequestError", 400), NotAccepted),
        (client_error("RateLimitError", 429, module="my_agent"), AgentFailed),
        (client_error("RateLimitError", 429, module="openai_like"), AgentFailed),
        (ConnectionError("of a tool, or of a model"), Undecided),
        (ValueError("no"), AgentFailed),
    ],
)
def test_the_client_and_its_status_say_whose_fault_it_is(error: Exception, expected: type[ProctorError]) -> None:
    assert type(agent_error(error)) is expected


def test_a_cause_behind_other_errors_is_found() -> None:
    def raised(make: Callable[[], None]) -> ProctorError:
        with pytest.raises(ProctorError) as caught, map_agent_errors():
            make()
        return caught.value

    def caused() -> None:
        raise RuntimeError("wrapped") from client_error("RateLimitError", 429)

    def handled() -> None:
        try:
            raise client_error("RateLimitError", 429)
        except Exception:
            raise RuntimeError("wrapped")  # noqa: B904 - that is what is tested

    def grouped() -> None:
        raise ExceptionGroup("several", [ValueError("x"), client_error("InternalServerError", 503)])

    def own() -> None:
        raise BadInput("Of ours.")

    assert isinstance(raised(caused), ProviderFailed)
    assert isinstance(raised(handled), ProviderFailed)
    assert isinstance(raised(grouped), ProviderFailed)
    assert type(raised(own)) is BadInput


def test_a_key_in_the_message_is_not_shown() -> None:
    failed = agent_error(client_error("InternalServerError", 500, "bad key sk-abcdefghijklmnopqrstuvwxyz123456"))
    assert "sk-abcdefghijklmnop" not in str(failed)


def test_a_function_that_calls_a_provider_is_judged_the_same_way() -> None:
    def answer(question: str) -> str:
        raise client_error("RateLimitError", 429)

    def refused(question: str) -> str:
        raise client_error("AuthenticationError", 401)

    task = proctor.Task(name="t", samples=[proctor.Sample.ask("a", "?", target="x")], scorers=["exact"])
    run = proctor.evaluate(task, agent=answer)
    assert dict(run.outcomes) == {"provider_failed": 1}
    with pytest.raises(EndpointRefused):
        proctor.evaluate(task, agent=refused)
