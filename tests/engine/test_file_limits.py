"""The files of tool results: what is kept of them, and how a result says that one was left out."""

from pathlib import Path

import msgspec
import pytest

from proctor.chat.message_text import count_left_out, result_text
from proctor.core.errors import EpisodeOver
from proctor.core.sample import File, Message, Sample, ToolCall, ToolResult
from proctor.engine import file_limits
from proctor.engine.acting import Acting
from proctor.engine.file_limits import FileLimits

PNG = b"\x89PNG\r\n\x1a\n" + bytes(92)


def result_with(*files: File) -> ToolResult:
    return ToolResult(name="shoot", content="Done.", files=files)


def test_a_result_without_files_is_written_as_ever() -> None:
    assert msgspec.json.encode(ToolResult(name="f", content="x")) == (
        b'{"type":"tool_result","name":"f","content":"x","id":"","is_error":false}'
    )
    whole = result_with(File(name="a.png", media_type="image/png", data=PNG))
    assert msgspec.json.decode(msgspec.json.encode(whole), type=ToolResult) == whole


def test_the_type_is_the_one_that_the_bytes_show_and_the_name_has_no_folder() -> None:
    gif = File(name="../../etc/a.png", media_type="image/png", data=b"GIF89a")
    page = File(name="b.png", media_type="image/png", data=b"<script>")
    kept = FileLimits().apply(result_with(gif, page))
    assert [(file.name, file.media_type) for file in kept.files] == [
        ("a.png", "image/gif"),
        ("b.png", "application/octet-stream"),
    ]
    assert kept.content == "Done."


def test_a_path_or_an_address_of_a_tool_is_never_read(tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text("secret", encoding="utf-8")
    kept = FileLimits().apply(result_with(File(name="k", path=str(secret)), File(name="u", url="http://127.0.0.1/")))
    assert not kept.files
    assert kept.content.count("1 file left out: ") == 2
    assert "secret" not in kept.content
    both = FileLimits().apply(result_with(File(name="a.png", data=PNG, path=str(secret), url="http://127.0.0.1/")))
    assert (both.files[0].path, both.files[0].url) == (None, None)


def test_what_is_too_large_is_left_out_with_the_limit_in_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_limits, "FILE_BYTES", 150)
    monkeypatch.setattr(file_limits, "RESULT_BYTES", 250)
    monkeypatch.setattr(file_limits, "TRIAL_BYTES", 360)
    limits, small = FileLimits(), File(name="a.png", data=PNG)
    kept = limits.apply(result_with(small, File(name="big.png", data=PNG * 2), small, small))
    assert len(kept.files) == 2
    assert "big.png (image/png, 200 bytes); a file may have 150 bytes" in kept.content
    assert "the files of a result may have 250 bytes" in kept.content
    later = limits.apply(result_with(small, small))
    assert len(later.files) == 1
    assert "of the 360 bytes for an attempt, its files may have 160 bytes" in later.content
    assert count_left_out([Message(role="tool", parts=(kept, later))]) == 3


def test_the_number_of_files_is_bounded_in_one_line() -> None:
    kept = FileLimits().apply(result_with(*[File(data=PNG)] * 1_000))
    assert len(kept.files) == file_limits.MOST_FILES
    assert kept.content == "Done.\n[980 files left out: a result may have 20 files.]"
    assert count_left_out([Message(role="tool", parts=(kept,))]) == 980


async def test_the_last_results_of_a_conversation_are_within_the_limits_too() -> None:
    class Closes:
        async def call(self, call: ToolCall) -> ToolResult:
            raise EpisodeOver(results=[result_with(File(name="passwd", path="/etc/passwd"))])

        def state(self) -> dict[str, object]:
            return {}

    with pytest.raises(EpisodeOver) as over:
        await Acting(Closes(), Sample.ask("a", "?")).call(ToolCall(name="shoot"))
    (result,) = over.value.results
    assert not result.files
    assert "1 file left out: passwd" in result.content


def test_what_is_no_file_is_a_fault_of_the_tool() -> None:
    with pytest.raises(TypeError, match="no tuple of File"):
        FileLimits().apply(ToolResult(name="f", content="", files=("/etc/passwd",)))  # type: ignore[arg-type]


def test_a_reader_of_text_is_told_of_each_file_once() -> None:
    result = result_with(File(name="a.png", media_type="image/png", data=PNG))
    assert result_text(result) == "Done."
    text = result_text(result, ())
    assert text == "Done.\n[1 file left out: a.png (image/png, 100 bytes); it cannot be shown here.]"
    assert result_text(msgspec.structs.replace(result, content=text), ()) == text
