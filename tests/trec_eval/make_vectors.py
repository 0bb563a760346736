"""Makes vectors.jsonl.gz: small runs with what trec_eval and ir_measures say of them.

    pip install ir-measures==0.4.3 pytrec_eval-terrier==0.5.11
    python tests/trec_eval/make_vectors.py

The same bytes every time. One line a case:

    qrels   qid -> document -> grade
    run     qid -> document -> score, as text, so that every reader rounds it by itself
    trec    qid -> [ndcg_cut_10, ndcg_cut_3, recall_100, recip_rank cut at 10, map, P_5, success_5,
            bpref]; only queries that have results and a grade of at least 0 (trec_eval crashes where
            all are negative)
    means   [nDCG@10, R@100, RR@10, AP, Judged@5] of ir_measures over the judged queries with a relevant
            document; RR@10 and Judged@5 are null where scores tie in 32 bits: Judged orders ties by
            document id ascending and compares 64 bits, and so does RR@10, which is taken from MS MARCO's script,
            while trec_eval orders them descending and compares 32

Beyond what is random: documents nobody judged, judged ones nobody retrieved, grades from -2 to 3,
queries without results, queries without judgements, queries without a relevant document, scores
that tie, that differ in 64 bits but not in 32, and document ids that are not ASCII.
"""

import gzip
import json
import pathlib
import random
import struct

import ir_measures
import pytrec_eval
from ir_measures import AP, RR, Judged, R, nDCG

CASES = 160
QUERIES = 8
SEED = 20250801
TREC = ["ndcg_cut_10", "ndcg_cut_3", "recall_100", "recip_rank", "map", "P_5", "success_5", "bpref"]
MEANS = [nDCG @ 10, R @ 100, RR @ 10, AP, Judged @ 5]


def rounded(score):
    return struct.unpack("f", struct.pack("f", float(score)))[0]


def scores(rng, style, count):
    """Scores as text."""
    if style == "distinct":
        return [str(score) for score in rng.sample(range(-count, 3 * count), count)]
    if style == "few":
        return [f"{rng.randint(0, 3) / 2}" for _ in range(count)]
    if style == "close":
        return [repr(1 + rng.randint(0, 40) * 1e-8) for _ in range(count)]
    return [f"{rng.choice('-+')}{rng.random() * 10:.5g}e{rng.randint(-30, 30)}" for _ in range(count)]


def one_query(rng, style):
    """Judgements and results of a query."""
    size = rng.choice([3, 8, 15, 15, 30, 30, 30, 160])
    names = [f"d{at}" for at in range(size)]
    if rng.random() < 0.2:
        names += ["é", "z", "ｚ", "𝄞", "D1", "http://x.test/?q=1"]
    grades = rng.choice([[0, 1], [0, 0, 0, 1], [-1, 0, 1, 2], [-2, 0, 1, 2, 3], [0, -1]])
    judged = rng.sample(names, rng.randint(1, min(len(names), 40)))
    found = rng.sample(names, rng.randint(1, len(names)))
    qrels = {name: rng.choice(grades) for name in judged}
    run = dict(zip(found, scores(rng, style, len(found)), strict=True))
    return qrels, run


def one_case(rng, at):
    style = ["distinct", "few", "close", "wide"][at % 4]
    qrels, run = {"sure": {"d0": 1}}, {"sure": {"d0": "1"}}
    for number in range(QUERIES):
        judged, found = one_query(rng, style)
        fate = rng.random()
        if fate < 0.95:
            qrels[f"q{number}"] = judged
        if fate > 0.08:
            run[f"q{number}"] = found
    numbers = {qid: {d: float(s) for d, s in found.items()} for qid, found in run.items()}
    bearable = {qid: judged for qid, judged in qrels.items() if max(judged.values()) >= 0}
    trec = pytrec_eval.RelevanceEvaluator(bearable, TREC).evaluate(numbers)
    for values in trec.values():
        if values["recip_rank"] < 0.1 - 1e-12:
            values["recip_rank"] = 0.0
    counted = {qid: judged for qid, judged in qrels.items() if max(judged.values()) > 0}
    means = ir_measures.calc_aggregate(MEANS, counted, numbers)
    ties = any(len({rounded(s) for s in found.values()}) < len(found) for found in run.values())
    return {
        "qrels": qrels,
        "run": run,
        "trec": {qid: [values[name] for name in TREC] for qid, values in sorted(trec.items())},
        "means": [None if ties and m in (RR @ 10, Judged @ 5) else means[m] for m in MEANS],
    }


def main():
    rng = random.Random(SEED)
    cases = [one_case(rng, at) for at in range(CASES)]
    text = "".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) + "\n" for case in cases)
    path = pathlib.Path(__file__).with_name("vectors.jsonl.gz")
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    queries = sum(len(case["trec"]) for case in cases)
    print(f"{path}: {len(cases)} cases, {queries} queries, {path.stat().st_size} bytes")


main()
