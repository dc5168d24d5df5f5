"""What a program is answered when a request fails."""

import msgspec
from starlette.responses import JSONResponse, Response

API = "/api/v1"  # what programs ask for lies below it
ADK = ("/apps/", "/dev/", "/debug/")  # what clients of ADK's server ask for, answered here or not, with a `detail`
KIND_BY_STATUS = {
    400: "bad_input",
    401: "not_signed_in",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    409: "changed_meanwhile",
    413: "too_large",
    429: "too_many_attempts",
    500: "internal_error",
    503: "store_unreadable",
}


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong: a sentence for users, and a short name for programs."""

    message: str
    kind: str


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a request that failed."""

    error: Fault


def is_for_programs(path: str) -> bool:
    """True if an address is answered in JSON."""
    return path == API or path.startswith(f"{API}/")


def failure(status: int, message: str) -> Response:
    """Return the answer of the API to a request that failed."""
    fault = Fault(message=message, kind=KIND_BY_STATUS.get(status, "refused"))
    return JSONResponse(msgspec.to_builtins(Failure(error=fault)), status)
