"""The documents do what they say: their Python runs, and no public name is left out."""

import inspect
import io
import os
import re
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

import gpfuse as gf

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    page
    for page in [
        ROOT / "README.md",
        *sorted((ROOT / "docs/book").glob("*.md")),
        ROOT / "docs/scaling.md",
        ROOT / "docs/stacking.md",
    ]
    if page.exists() and "```python\n" in page.read_text(encoding="utf-8")
]


# A page says so before a text block whose numbers are times, or else not the same twice.
VARIES = "<!-- numbers vary -->"


class Block(NamedTuple):
    """A block of Python on a page, and the text block that stands right under it."""

    line: int
    code: str
    shown: str | None
    varies: bool


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    shown = rf"(?:\n({re.escape(VARIES)}\n)?```text\n(.*?)^```\n)?"
    found = re.finditer(r"^```python\n(.*?)^```\n" + shown, text, re.M | re.S)
    return [Block(text[: m.start()].count("\n") + 1, m[1], m[3], m[2] is not None) for m in found]


def words(text: str) -> list[str]:
    """What does not change with the last bits: words, not numbers, signs or blanks."""
    return re.findall(r"[^\W\d_]{2,}", text)


def numbers(text: str) -> list[float]:
    """All numbers, those in names included."""
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", text)]


def agree(printed: str, shown: str) -> bool:
    """As many numbers, and each within 0.25 or 30 % of the one shown, whichever is larger."""
    found, expected = numbers(printed), numbers(shown)
    return len(found) == len(expected) and all(
        abs(a - b) <= max(0.25, 0.3 * abs(b)) for a, b in zip(found, expected, strict=True)
    )


def test_other_numbers_than_those_shown_are_noticed() -> None:
    assert agree("NLPD 0.31 of 400 rows", "NLPD 0.10 of 500 rows")
    assert not agree("NLPD 0.31", "NLPD 0.91")
    assert not agree("400 rows", "800 rows")
    assert not agree("0.31", "-0.31")
    assert not agree("1 2", "1")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_runs_and_prints_what_it_shows(page: Path, tmp_path, monkeypatch) -> None:
    """Every block, in order, in one namespace.

    Numbers may differ from one processor to another, but not by more than `agree` allows: that is
    wide, because chains are short here. All seeds are fixed.
    """
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    namespace: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        # As many lines before the code as on the page, so that a traceback names the right one.
        code = compile("\n" * block.line + block.code, str(page), "exec")
        printed = io.StringIO()
        with warnings.catch_warnings(), redirect_stdout(printed):
            warnings.simplefilter("ignore")
            exec(code, namespace)
        if block.shown is not None:
            where = f"{page.name}, line {block.line}"
            assert words(printed.getvalue()) == words(block.shown), where
            said = f"{where}:\n{printed.getvalue()}"
            assert block.varies or agree(printed.getvalue(), block.shown), said
    import matplotlib.pyplot

    matplotlib.pyplot.close("all")


def test_links_of_the_book_lead_somewhere() -> None:
    pages = [*(ROOT / "docs/book").glob("*.md"), ROOT / "docs/python.md"]
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def _sections() -> dict[str, str]:
    """The sections of the reference by their headings."""
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    parts = re.split(r"^#+ (.*)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", [name for name in gf.__all__ if name != "__version__"])
def test_every_public_name_is_in_the_reference(name: str) -> None:
    """Each name has a section, in which every parameter occurs, or among those that are shared."""
    sections = _sections()
    thing = getattr(gf, name)
    assert f"`{name}`" in sections, f"{name} has no section"
    # Nobody makes these by hand.
    if not callable(thing) or name in ("Interrupted", "ConvergenceWarning", "Distribution"):
        return
    known = sections[f"`{name}`"]
    parameters = inspect.signature(thing).parameters
    if "chains" in parameters:
        known += sections["Settings of sampled models"]
    missing = [each for each in parameters if not re.search(rf"\b{each}\b", known)]
    assert not missing, f"{name}: {missing}"


def test_the_reference_has_no_name_too_many() -> None:
    """What has a section of its own is public, and is a parameter where a table says so."""
    sections = _sections()
    assert {each.strip("`") for each in sections if each.startswith("`")} <= set(gf.__all__)
    table = sections["Settings of sampled models"]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    shared = re.findall(r"`(\w+)`", " ".join(cells))
    own = inspect.signature(gf.MoGPE).parameters
    assert sorted(shared) == sorted(set(own) - {"experts"})


def test_the_tour_runs_from_end_to_end(tmp_path) -> None:
    """The notebook in `examples`, in a kernel of its own; its stored size suits a browser."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("arviz")
    path = ROOT / "examples/tour.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    stored = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert path.stat().st_size < 600_000
    assert all(cell.execution_count for cell in stored), "store the notebook executed"
    resources = {"metadata": {"path": str(tmp_path)}}
    before = os.environ.get("PYTHONPATH")
    try:
        # The kernel takes this very package, installed or not.
        os.environ["PYTHONPATH"] = os.pathsep.join(
            [str(Path(gf.__file__).parents[1]), before or ""]
        )
        nbclient.NotebookClient(
            notebook, timeout=120, kernel_name="python3", resources=resources
        ).execute()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
