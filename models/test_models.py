"""Tests of everything in this folder, on random checkpoints: `pytest models/test_models.py`.

They need what requirements.txt names and no network.
"""

import json
import re
from argparse import Namespace
from pathlib import Path

import numpy
import pytest
import sentencepiece
import torch
from tokenizers import Tokenizer
from transformers import AutoTokenizer

import bench_onnxruntime
import export_model
import finetune_qt5
import make_fixtures
from click_labels import LabelledText
from model_directory import QUERY_TOKENS, SEQUENCE_PAIR, T5_TRUE_FALSE, ModelSettings, read_settings
from model_rows import RowMaker, log_probability, padded_batch, pooled
from parity import open_session, run_session
from random_checkpoint import make_checkpoint

LINES = [
    "The planner decides which pages to fetch next, so that search improves fastest.",
    "Links of a fetched page lead to pages that nobody has read; some of them are good.",
    "A true statement and a false one; a query, its frequency, and the rank of a page.",
    "index ranking sketch frontier estimate html policy budget report crawl",
]
LONG = "The planner reads links and ranks the pages of the frontier again. " * 20
PAIR = ["--passage-tokens", "20", "--stride-tokens", "16", "--max-passages", "4", "--max-tokens", "96"]
TOLERANCE = 1e-4

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder with a checkpoint of every architecture; `encoder` is BERT without a head."""
    folder = tmp_path_factory.mktemp("checkpoints")
    torch.set_num_threads(1)
    for name in ("t5", "t5-gated", "bert", "electra", "distilbert", "roberta"):
        make_checkpoint(name, folder / name, LINES, vocabulary=400)
    make_checkpoint("bert", folder / "encoder", LINES, vocabulary=400, labels=None)
    make_checkpoint("distilbert", folder / "distil-encoder", LINES, vocabulary=400, labels=None)
    make_checkpoint("roberta", folder / "roberta-encoder", LINES, vocabulary=400, labels=None)
    make_checkpoint("bert", folder / "one-label", LINES, vocabulary=400, labels=1)
    head = {"weights": [0.5] * 24, "bias": 0.1}
    (folder / "head.json").write_text(json.dumps(head))
    return folder


def export(*arguments: str | Path) -> int:
    return export_model.main([str(one) for one in arguments])


def refused(capsys: Capture, *arguments: str | Path) -> str:
    """The error message of an export that must fail and must not leave a model."""
    directory = Path(arguments[2])
    before = sorted(directory.iterdir()) if directory.exists() else None
    assert export(*arguments) == 1
    assert (sorted(directory.iterdir()) if directory.exists() else None) == before
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "checkpoint", "options"),
    [
        ("t5", "t5", []),
        ("t5", "t5-gated", ["--truncation", "prompt"]),
        ("classifier", "bert", []),
        ("classifier", "one-label", []),
        ("classifier", "electra", ["--positive", "0"]),
        ("classifier", "distilbert", []),
        ("classifier", "roberta", []),
        ("pair", "electra", PAIR),
        ("pair", "bert", PAIR),
        ("embedding", "encoder", []),
        ("embedding", "encoder", ["--pool-in-graph"]),
        ("embedding", "encoder", ["--pool-in-graph", "--pooling", "cls"]),
        ("embedding", "distil-encoder", ["--pooling", "cls", "--no-normalize"]),
        ("embedding", "roberta-encoder", []),
    ],
)
def test_exports_give_the_outputs_of_pytorch(
    command: str, checkpoint: str, options: list[str], checkpoints: Path, tmp_path: Path, capsys: Capture
) -> None:
    head = ["--head", checkpoints / "head.json"] if command == "embedding" else []
    directory = tmp_path / "model"
    assert export(command, checkpoints / checkpoint, directory, *head, *options) == 0
    differences = re.findall(r"at most (\S+) over 13 rows", capsys.readouterr().out)
    assert differences and all(float(one) <= TOLERANCE for one in differences)
    assert read_settings(directory).kind == export_model.KIND_OF_COMMAND[command]


def test_the_output_layer_of_t5_is_scaled_only_where_it_is_tied(checkpoints: Path) -> None:
    """Else both exports could be wrong in the same way as a reference that loads weights wrongly."""
    for name, scaled in (("t5", True), ("t5-gated", False)):
        model = export_model.load_model(str(checkpoints / name), T5_TRUE_FALSE)
        assert model.config.scale_decoder_outputs == scaled
        assert torch.equal(model.lm_head.weight, model.shared.weight) == scaled


def test_a_graph_longer_than_its_limit_fails_instead_of_guessing(checkpoints: Path, tmp_path: Path) -> None:
    assert export("t5", checkpoints / "t5", tmp_path / "model", "--max-tokens", "32") == 0
    ids = numpy.ones((1, 33), dtype=numpy.int64)
    with pytest.raises(Exception, match="33"):
        session = open_session(tmp_path / "model" / "model.onnx")
        run_session(session, {"input_ids": ids, "attention_mask": ids})


def maker_of(settings: ModelSettings, checkpoint: Path) -> RowMaker:
    return RowMaker(settings, Tokenizer.from_file(str(checkpoint / "tokenizer.json")))


@pytest.mark.parametrize("text", ["", "A page.", LONG, "Straße 网页 🙂", "with </s> inside"])
def test_t5_rows_are_those_of_the_reference_or_keep_the_suffix(text: str, checkpoints: Path) -> None:
    settings = ModelSettings("t", T5_TRUE_FALSE, 40, truncation="prompt")
    maker = maker_of(settings, checkpoints / "t5")
    reference = AutoTokenizer.from_pretrained(checkpoints / "t5")
    prompt = f"Document: {text} Relevant:"
    expected = reference(prompt, truncation=True, max_length=40)["input_ids"]
    assert maker.rows(text)[0].ids == expected
    settings.truncation = "text"
    kept = maker.rows(text)[0].ids
    assert len(kept) == len(expected)
    suffix = [*maker.plain_ids(" Relevant:"), reference.eos_token_id]
    assert kept[-len(suffix) :] == suffix
    assert kept[: -len(suffix)] == maker.plain_ids(prompt)[: len(kept) - len(suffix)]


@pytest.mark.parametrize("text", ["", "A page.", LONG, "Straße 网页 🙂", "with [SEP] inside"])
def test_single_and_pair_rows_are_those_of_transformers(text: str, checkpoints: Path) -> None:
    reference = AutoTokenizer.from_pretrained(checkpoints / "bert")
    single = maker_of(ModelSettings("s", "sequence-classifier", 48), checkpoints / "bert")
    expected = reference(text, truncation=True, max_length=48)["input_ids"]
    assert single.rows(text)[0].ids == expected
    settings = ModelSettings("p", SEQUENCE_PAIR, 512, passage_tokens=20, stride_tokens=16, max_passages=4)
    first = maker_of(settings, checkpoints / "bert").rows(text, "which pages")[0]
    query = reference("which pages", add_special_tokens=False)["input_ids"]
    # Given one pair and not a batch, transformers takes an empty second text for none at all.
    expected = reference(
        ["which pages"],
        [text],
        truncation="only_second",
        max_length=20 + len(query) + 3,
        return_token_type_ids=True,
    )
    assert first.ids == expected["input_ids"][0]
    assert padded_batch([first], 0)["token_type_ids"][0].tolist() == expected["token_type_ids"][0]


def test_queries_are_cut(checkpoints: Path) -> None:
    settings = ModelSettings("p", SEQUENCE_PAIR, 512)
    row = maker_of(settings, checkpoints / "bert").rows("", LONG)[0]
    assert len(row.ids) == QUERY_TOKENS + 3


def test_a_sentencepiece_model_is_converted_piece_for_piece(checkpoints: Path, tmp_path: Path) -> None:
    """Published T5 checkpoints may come with spiece.model alone."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join([*LINES, *["true", "false"] * 20] * 40))
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus),
        model_prefix=str(tmp_path / "spiece"),
        vocab_size=80,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        minloglevel=2,
    )
    checkpoint = tmp_path / "checkpoint"
    make_checkpoint("t5", checkpoint, LINES, vocabulary=400)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (checkpoint / file).unlink()
    (tmp_path / "spiece.model").rename(checkpoint / "spiece.model")
    assert export("t5", checkpoint, tmp_path / "model") == 0
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(checkpoint / "spiece.model"))
    converted = Tokenizer.from_file(str(tmp_path / "model" / "tokenizer.json"))
    for text in [*LINES, "Document: a  page, ﬁne Relevant:", "Straße"]:
        assert converted.encode(text).ids == [*pieces.encode(text), 1]


def test_answers_must_be_single_pieces(checkpoints: Path, tmp_path: Path, capsys: Capture) -> None:
    checkpoint = tmp_path / "checkpoint"
    make_checkpoint("t5", checkpoint, LINES, vocabulary=400)
    path = checkpoint / "tokenizer.json"
    parts = json.loads(path.read_text())
    for entry in parts["model"]["vocab"]:
        entry[0] = entry[0].replace("▁false", "▁falsity")
    path.write_text(json.dumps(parts))
    assert "'false' as one piece" in refused(capsys, "t5", checkpoint, tmp_path / "model")


def test_answers_named_in_the_configuration_are_taken(checkpoints: Path, tmp_path: Path) -> None:
    """The reference implementation of QT5 lets a checkpoint name its own two words."""
    swapped = {"targets": ["false", "true"]}
    make_checkpoint("t5", tmp_path / "swapped", LINES, vocabulary=400, overrides=swapped)
    ids = numpy.array([[9, 10, 11, 1]])
    logits = []
    for number, checkpoint in enumerate((checkpoints / "t5", tmp_path / "swapped")):
        assert export("t5", checkpoint, tmp_path / str(number)) == 0
        session = open_session(tmp_path / str(number) / "model.onnx")
        logits.append(run_session(session, {"input_ids": ids, "attention_mask": numpy.ones_like(ids)}))
    numpy.testing.assert_array_equal(logits[0], logits[1][:, ::-1])


def test_missing_files_are_named(checkpoints: Path, tmp_path: Path, capsys: Capture) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "config.json" in refused(capsys, "t5", empty, tmp_path / "model")
    assert "no directory" in refused(capsys, "t5", tmp_path / "nowhere", tmp_path / "model")
    no_weights = tmp_path / "no-weights"
    make_checkpoint("bert", no_weights, LINES, vocabulary=400)
    (no_weights / "model.safetensors").unlink()
    assert "cannot load" in refused(capsys, "classifier", no_weights, tmp_path / "model")
    (no_weights / "config.json").unlink()
    assert "config.json" in refused(capsys, "classifier", no_weights, tmp_path / "model")


def test_heads_that_do_not_fit_are_refused(checkpoints: Path, tmp_path: Path, capsys: Capture) -> None:
    def message(name: str, contents: str) -> str:
        head = tmp_path / name
        head.write_text(contents)
        arguments = ("embedding", checkpoints / "encoder", tmp_path / "model", "--head", head)
        return refused(capsys, *arguments)

    assert "23 weights" in message("short.json", json.dumps({"weights": [1.0] * 23, "bias": 0}))
    assert "bias" in message("biasless.json", json.dumps({"weights": [1.0] * 24}))
    assert "not finite" in message("nan.json", json.dumps({"weights": [float("nan")] * 24, "bias": 0}))
    assert "cannot be read" in message("text.json", "weights")
    assert "is read from" in message("head.txt", "")
    missing = ("embedding", checkpoints / "encoder", tmp_path / "model", "--head", tmp_path / "none.json")
    assert "no such file" in refused(capsys, *missing)


@pytest.mark.parametrize("form", ["npz", "safetensors"])
def test_heads_are_read_in_every_form(form: str, checkpoints: Path, tmp_path: Path) -> None:
    weights, bias = numpy.full((1, 24), 0.5), numpy.array([0.1])
    path = tmp_path / f"head.{form}"
    if form == "npz":
        numpy.savez(path, weights=weights, bias=bias)
    else:
        from safetensors.numpy import save_file

        save_file({"weights": weights, "bias": bias}, path)
    assert export("embedding", checkpoints / "encoder", tmp_path / "model", "--head", path) == 0
    written = json.loads((tmp_path / "model" / "head.json").read_text())
    assert written == {"weights": [0.5] * 24, "bias": 0.1}


def test_what_cannot_work_is_refused(checkpoints: Path, tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "model"
    message = refused(capsys, "classifier", checkpoints / "encoder", target)
    assert "no weights that fit" in message and "classifier" in message
    assert "2 logits" in refused(capsys, "classifier", checkpoints / "bert", target, "--positive", "2")
    assert "positions" in refused(capsys, "classifier", checkpoints / "bert", target, "--max-tokens", "129")
    assert "BERT or ELECTRA" in refused(capsys, "pair", checkpoints / "roberta", target, *PAIR)
    assert "more than max_tokens" in refused(capsys, "pair", checkpoints / "bert", target)
    assert "before any text" in refused(capsys, "t5", checkpoints / "t5", target, "--max-tokens", "9")
    assert "exactly once" in refused(capsys, "t5", checkpoints / "t5", target, "--prompt", "no text")
    assert "differs from PyTorch" in refused(capsys, "t5", checkpoints / "t5", target, "--tolerance", "0")
    head = ("--head", checkpoints / "head.json")
    assert "not supported" in refused(capsys, "embedding", checkpoints / "t5", target, *head)


def test_a_model_is_replaced_only_when_told_to(checkpoints: Path, tmp_path: Path, capsys: Capture) -> None:
    arguments = ("classifier", checkpoints / "bert", tmp_path / "model")
    assert export(*arguments) == 0
    assert "--overwrite" in refused(capsys, *arguments)
    assert export(*arguments, "--overwrite", "--name", "second") == 0
    assert read_settings(tmp_path / "model").name == "second"


def check_expected(directory: Path) -> None:
    """Rows of all cases of a test model, in one padded batch, through ONNX Runtime."""
    settings = read_settings(directory)
    maker = RowMaker(settings, Tokenizer.from_file(str(directory / "tokenizer.json")))
    cases = json.loads((directory / "expected.json").read_text())["cases"]
    rows, expected = [], []
    for case in cases:
        settings.truncation = case.get("truncation", "text")
        made = maker.rows(case["text"], case.get("query", ""))
        assert [row.ids for row in made] == case["rows"]
        scores = log_probability(numpy.array(case["logits"]), settings)
        assert case["score"] == pytest.approx(scores.max(), abs=1e-12)
        rows += made
        expected += case["logits"]
    feeds = padded_batch(rows, settings.pad_id)
    session = open_session(directory / "model.onnx")
    output = run_session(session, feeds)
    if settings.kind == "sentence-embedding":
        head = json.loads((directory / "head.json").read_text())
        vectors = pooled(output, feeds["attention_mask"], settings)
        output = (vectors @ numpy.array(head["weights"]) + head["bias"])[:, None]
    numpy.testing.assert_allclose(output, expected, rtol=0, atol=TOLERANCE)


def test_fixtures_are_repeatable_and_onnx_runtime_reproduces_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = tmp_path / "text.md"
    readme.write_text("\n".join(LINES))
    for folder in ("first", "second"):
        arguments = ["make_fixtures.py", str(tmp_path / folder), "--text", str(readme), "--broken"]
        monkeypatch.setattr("sys.argv", arguments)
        assert make_fixtures.main() == 0
    first = tmp_path / "first"
    files = [path.relative_to(first) for path in first.rglob("*") if path.is_file()]
    assert len(files) == 8 * 4 + 3 + 3 * 3
    for file in files:
        assert (first / file).read_bytes() == (tmp_path / "second" / file).read_bytes(), file
    for path in sorted(first.glob("*/expected.json")):
        check_expected(path.parent)


def write_labels(path: Path, count: int = 400) -> None:
    """Texts that are good where they hold certain words, half labelled, half with clicks."""
    random = numpy.random.default_rng(5)
    words = {True: "index ranking sketch frontier".split(), False: "html policy budget report".split()}
    with path.open("w") as file:
        for number in range(count):
            good = bool(random.random() < 0.5)
            text = [*random.choice("the page of a to in".split(), 6), *random.choice(words[good], 3)]
            clicks = f"{random.binomial(50, 0.8 if good else 0.1)}/50"
            file.write(f"{' '.join(text)}\t{clicks if number % 2 else int(good)}\n")


def tuning(checkpoints: Path, folder: Path, *more: str) -> list[str]:
    sizes = "--max-tokens 64 --epochs 4 --learning-rate 3e-3 --evaluate-every 20 --validation-share 0.2"
    return [str(checkpoints / "t5"), str(folder / "labels.tsv"), str(folder / "tuned"), *sizes.split(), *more]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_fine_tuning_learns_and_its_result_exports(
    precision: str, checkpoints: Path, tmp_path: Path, capsys: Capture
) -> None:
    write_labels(tmp_path / "labels.tsv")
    assert finetune_qt5.main(tuning(checkpoints, tmp_path, "--precision", precision)) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found[-1]["log_loss"] < found[0]["log_loss"] - 0.1
    assert found[-1]["auc"] > max(found[0]["auc"] + 0.1, 0.8)
    assert export("t5", tmp_path / "tuned" / "best", tmp_path / "model") == 0


def test_an_interrupted_run_goes_on_as_if_nothing_happened(
    checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    for folder in ("whole", "parts"):
        (tmp_path / folder).mkdir()
        write_labels(tmp_path / folder / "labels.tsv")
    assert finetune_qt5.main(tuning(checkpoints, tmp_path / "whole")) == 0
    train = finetune_qt5.Trainer.train

    def interrupted(trainer: finetune_qt5.Trainer, batch: list[LabelledText]) -> None:
        if trainer.step == 50:
            raise KeyboardInterrupt
        train(trainer, batch)

    monkeypatch.setattr(finetune_qt5.Trainer, "train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        finetune_qt5.main(tuning(checkpoints, tmp_path / "parts"))
    monkeypatch.undo()
    assert finetune_qt5.main(tuning(checkpoints, tmp_path / "parts")) == 1
    assert "--resume" in capsys.readouterr().err
    assert finetune_qt5.main(tuning(checkpoints, tmp_path / "parts", "--resume", "--seed", "2")) == 1
    assert "another seed" in capsys.readouterr().err
    assert finetune_qt5.main(tuning(checkpoints, tmp_path / "parts", "--resume")) == 0
    whole, parts = (torch.load(tmp_path / one / "tuned" / "resume.pt") for one in ("whole", "parts"))
    assert whole["step"] == parts["step"] > 50
    for name, weight in whole["model"].items():
        assert torch.equal(weight, parts["model"][name]), name


def test_the_benchmark_prints_one_object(checkpoints: Path, tmp_path: Path, capsys: Capture) -> None:
    assert export("pair", checkpoints / "electra", tmp_path / "model", *PAIR) == 0
    texts = tmp_path / "texts.txt"
    texts.write_text(f"a page\n{LONG}\n")
    capsys.readouterr()
    common = [str(tmp_path / "model"), "--texts", "20", "--tokens", "30", "--repeat", "1"]
    for source in (["--from", "ids"], ["--from", "text", "--text-file", str(texts), "--query", "links"]):
        assert bench_onnxruntime.main([*common, *source]) == 0
        found = Namespace(**json.loads(capsys.readouterr().out))
        assert found.texts_per_second > 0
        assert (found.texts, found.rows) == ((20, 20) if source[1] == "ids" else (2, 5))
    assert bench_onnxruntime.main([str(tmp_path)]) == 1
