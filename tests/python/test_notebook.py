"""The notebook runs from its first cell to its last, and is stored without outputs."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import prospect

NOTEBOOK = Path(__file__).parents[2] / "docs/experiment.ipynb"


def test_the_notebook_goes_from_a_corpus_to_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(prospect.__file__).parents[1]))
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), "it is stored with outputs"
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    outputs = [output for cell in code for output in cell.outputs]
    assert not any(output.get("name") == "stderr" for output in outputs)
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert {"image/png", "text/html"} <= kinds
    printed = "".join(output.get("text", "") for output in outputs)
    assert "nDCG@10" in printed and "relevance-oracle" in printed
