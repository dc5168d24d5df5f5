"""Where the pages listen, and what this machine is called there."""

import socket

import pytest

from proctor.core.errors import BadInput
from proctor.web import serving


def test_this_machine_only_unless_told_otherwise() -> None:
    with serving.listen(18_860) as on:
        assert serving.is_loopback(on)
        assert serving.names(on, serving.ADDRESS) == ["127.0.0.1"]


def test_every_network_has_an_address_for_links_and_the_name_of_the_machine() -> None:
    with serving.listen(18_870, "0.0.0.0") as on:
        assert not serving.is_loopback(on)
        first, *others = serving.names(on, "0.0.0.0")
        assert first not in ("", "0.0.0.0")
        assert socket.gethostname().lower() in (first, *others)


def test_a_port_that_is_taken_leads_to_the_next() -> None:
    with serving.listen(18_880) as one, serving.listen(one.getsockname()[1]) as other:
        assert other.getsockname()[1] > one.getsockname()[1]


@pytest.mark.parametrize("host", ["no such host", "192.0.2.1", "a" * 300])
def test_an_address_of_another_machine_is_refused(host: str) -> None:
    with pytest.raises(BadInput):
        serving.listen(18_890, host)
