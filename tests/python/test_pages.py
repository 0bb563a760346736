"""The code of the pages on Python does what they show."""

import contextlib
import io
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
# Stands for any number of lines, as in tests/docs.rs.
ANY = "…"


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """Each block of Python, the output that is shown below it, if any, and where it stands."""
    text = page.read_text(encoding="utf-8")
    fenced = list(re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    found = []
    for block, below in zip(fenced, [*fenced[1:], None], strict=True):
        if block[1] == "python":
            shown = below[2] if below is not None and below[1] == "text" else ""
            line = text.count("\n", 0, block.start()) + 1
            found.append((block[2], shown, f"{page.name}:{line}"))
    return found


def shows(shown: list[str], printed: list[str]) -> bool:
    if not shown:
        return not printed
    if shown[0] == ANY:
        return any(shows(shown[1:], printed[at:]) for at in range(len(printed) + 1))
    return bool(printed) and shown[0].rstrip() == printed[0].rstrip() and shows(shown[1:], printed[1:])


@pytest.mark.parametrize("page", ["python.md", "pyterrier.md"])
def test_a_page_does_what_it_shows(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "workloads").symlink_to(REPOSITORY / "workloads")
    monkeypatch.chdir(tmp_path)
    found = blocks(REPOSITORY / "docs" / page)
    assert sum(bool(shown) for _, shown, _ in found) >= 3
    names: dict[str, object] = {}
    for code, shown, where in found:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, where, "exec"), names)
        printed = out.getvalue()
        assert shows(shown.splitlines(), printed.splitlines()), f"{where} prints\n{printed}"


def test_what_differs_is_not_shown() -> None:
    assert shows(["a", ANY, "d"], ["a", "b", "d"])
    assert not shows([], ["a"])
    assert not shows(["a"], ["b"])
    assert not shows(["a", ANY], ["b", "a"])
