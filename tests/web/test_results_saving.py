"""A page as one file: what goes in, and what stays out."""

import pytest

from proctor_web.results.saving import IMAGE_BYTES, Fetched, save

PNG = b"\x89PNG\r\n"


async def fetch(path: str) -> Fetched:
    match path:
        case "/a.css":
            return Fetched(200, "text/css", b"p { color: red }")
        case "/a.png":
            return Fetched(200, "image/png", PNG)
        case "/large.png":
            return Fetched(200, "image/png", b"x" * (IMAGE_BYTES + 1))
        case "/page":
            return Fetched(200, "text/html", b"<b>")
        case _:
            return Fetched(404, "text/html", b"")


async def saved(body: str, head: str = "") -> str:
    return await save(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>", fetch, "from <here>")


async def test_styles_are_within_once() -> None:
    link = '<link rel="stylesheet" href="/a.css">'
    page = await saved(link, link)
    assert page.count("p { color: red }") == 1
    assert "<link" not in page
    assert "<footer>from &lt;here&gt;</footer>" in page


async def test_an_image_of_the_app_is_within() -> None:
    assert '<img src="data:image/png;base64,iVBORw0K" alt="x">' in await saved('<img src="/a.png" alt="x">')


@pytest.mark.parametrize(
    "source", ["/large.png", "/page", "/none", "http://evil.example/a.png", "a.png", "data:image/png,x"]
)
async def test_nothing_else_becomes_an_image(source: str) -> None:
    assert '<img src="data:,">' in await saved(f'<img src="{source}">')


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("a<script>b</script>c", "ac"),
        ("a<dialog><p>b<form><b>c</b></form></p></dialog>d", "ad"),
        ("<form action='/x'><table><tr><td>a<input name=b></td></tr></table></form>", "<table><tr><td>a</td></tr></table>"),
        ('<a class="x unsaved" href="/b">a</a>c', "c"),
        ('<a href="/b" rel="next">a</a><a href="/b" title="t">c</a>', '<a title="t">c</a>'),
        ('<a href="#b">a</a>', '<a href="#b">a</a>'),
        ('<p onclick="x()" hx-get="/x" data-row style="color: red" title="&quot;&lt;">a &amp; &#60;b&gt;</p>', '<p title="&quot;&lt;">a &amp; &#60;b&gt;</p>'),
        ("<details open><summary>a</summary>b<br>c</details>", "<details open><summary>a</summary>b<br>c</details>"),
        ('<svg viewBox="0 0 1 1"><circle r="1"/></svg>', '<svg viewbox="0 0 1 1"><circle r="1"></circle></svg>'),
        ("a<!-- b -->c", "ac"),
    ],
)  # fmt: skip
async def test_what_needs_a_server_or_a_script_stays_out(body: str, left: str) -> None:
    page = await saved(body)
    assert page.partition("<body>")[2].partition("<footer>")[0] == left


async def test_the_address_in_the_footer_hides_no_character() -> None:
    page = await save("<html><body></body></html>", fetch, "from /runs/a/samples/\x1b[2J\u202e")
    assert "\x1b" not in page
    assert "⟨U+202E⟩" in page
