"""Addresses: what a URL says, as it goes over the wire, and the proxy on the way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.transport.address import parse, proxy_of


@pytest.mark.parametrize(
    ("url", "shown", "target", "authority"),
    [
        ("https://api.example/v1", "https://api.example/v1", "/v1", "api.example"),
        ("HTTPS://API.Example:443/V1", "https://api.example/V1", "/V1", "api.example"),
        ("http://h:80", "http://h", "/", "h"),
        ("http://h:8080/", "http://h:8080/", "/", "h:8080"),
        ("http://h:443/", "http://h:443/", "/", "h:443"),
        ("http://h?a=1", "http://h/?a=1", "/?a=1", "h"),
        ("http://h/a b?c=d e#part", "http://h/a%20b?c=d%20e", "/a%20b?c=d%20e", "h"),
        ("http://h/%e4%B8?x=%zz&y=+", "http://h/%e4%B8?x=%25zz&y=+", "/%e4%B8?x=%25zz&y=+", "h"),
        ("http://例え.jp/ü", "http://xn--r8jz45g.jp/%C3%BC", "/%C3%BC", "xn--r8jz45g.jp"),
        ("http://[::1]:8/x", "http://[::1]:8/x", "/x", "[::1]:8"),
        ("http://[fe80::1%25eth0]/x", "http://[fe80::1]/x", "/x", "[fe80::1]"),
        ("http://a_b.example/x", "http://a_b.example/x", "/x", "a_b.example"),
        ("http://me:pass@h/x", "http://h/x", "/x", "h"),
        ("http://h/a\r\nX-Evil: 1", "http://h/aX-Evil:%201", "/aX-Evil:%201", "h"),
    ],
)
def test_a_url_is_read_as_it_is_sent(url: str, shown: str, target: str, authority: str) -> None:
    address = parse(url)
    assert (str(address), address.target, address.authority) == (shown, target, authority)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "h/x",
            "ftp://h/x",
            "http://",
            "http:///x",
            "http://[::1",
            "http://h:x/",
            "http://h:99999/",
            "http://a b/",
        ),
        *("http://a,b/", "http://[zz]/", "http://ex\u2100mple/", f"http://{'ü' * 80}.example/"),
    ],
)
def test_what_names_no_http_server_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        parse(url)


def test_user_and_password_become_a_header_and_are_never_shown() -> None:
    address = parse("http://me:se%20cret%3A@h/x")
    assert address.authorization == "Basic bWU6c2UgY3JldDo="
    assert "cret" not in str(address)
    assert parse("http://h").authorization == ""


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_url_breaks_out_of_its_line(path: str, query: str) -> None:
    try:
        address = parse(f"http://h/{path}?{query}")
    except ValueError:
        return
    assert address.target.isascii()
    assert address.target.isprintable()
    assert " " not in address.target
    assert parse(str(address)) == address, "what is shown leads to the same place"


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        ({}, "https://api.example", None),
        ({"HTTPS_PROXY": "http://p:3128"}, "https://api.example", "http://p:3128"),
        ({"https_proxy": "p:3128"}, "https://api.example", "http://p:3128"),
        ({"HTTP_PROXY": "http://p:3128"}, "https://api.example", None),
        ({"all_proxy": "http://p:3128"}, "https://api.example", None),
        ({"HTTPS_PROXY": "http://p", "NO_PROXY": "other,.example"}, "https://api.example", None),
        ({"HTTPS_PROXY": "http://p", "NO_PROXY": "*"}, "https://api.example", None),
        ({"HTTPS_PROXY": ""}, "https://api.example", None),
        *(({"HTTP_PROXY": "http://p"}, f"http://{host}/x", None) for host in ("localhost", "127.0.0.1:8", "[::1]:8")),
    ],
)
def test_a_proxy_is_the_one_that_the_environment_names(
    variables: dict[str, str], url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = proxy_of(parse(url))
    assert (str(found) if found is not None else None) == proxy
