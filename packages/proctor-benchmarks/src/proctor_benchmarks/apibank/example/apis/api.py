"""What the tools of the example share."""

from collections.abc import Callable, Mapping
from typing import Any


class API:
    """A tool; a ValueError of its answer is a result too."""

    description: str
    input_parameters: Mapping[str, object]
    output_parameters: Mapping[str, object]
    answer: Callable[..., Any]

    def call(self, **given: object) -> dict[str, object]:
        """Return the result of a call."""
        said: dict[str, object] = {"output": None, "exception": None}
        try:
            said["output"] = self.answer(**given)
        except ValueError as error:
            said["exception"] = str(error)
        return {"api_name": type(self).__name__, "input": given, **said}

    def check_api_call_correctness(self, response: Mapping[str, object], groundtruth: Mapping[str, object]) -> bool:
        """True if two results are the same."""
        return all(response[key] == groundtruth[key] for key in ("input", "output", "exception"))
