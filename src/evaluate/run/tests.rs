//! Tests of runs: the rule of order, the writer that survives it, and what is refused.

use proptest::prelude::*;

use super::*;

fn docids(run: &Run, qid: &str) -> Vec<String> {
    run.queries[qid].iter().map(|result| result.docid.clone()).collect()
}

#[test]
fn order_is_by_32_bit_score_then_document_id_both_falling() {
    let text = "\u{feff}q Q0 a 1 1.0 first\r\nq Q0 b 2 1.000000000001 t\n\nq Q0 c 3 1e1 t\n\
                q\tQ0\td\t4\t-0.0\tt\nq Q0 e 5 0 t\np 0 a 9 -3 t\n";
    let run = parse(text, "r").unwrap();
    assert_eq!(run.tag, "first");
    assert_eq!(docids(&run, "q"), ["c", "b", "a", "e", "d"]);
    assert_eq!(docids(&run, "p"), ["a"]);
}

#[test]
fn a_line_that_cannot_be_used_is_named() {
    let good = "q Q0 a 1 1 t\n";
    let cases = [
        ("q Q0 a 1 1\n", "r:2: the line has 5 fields; `qid Q0 docid rank score tag` was expected"),
        ("q 0 a 1\n", "r:2: the line has 4 fields, and this may be one of judgements; `qid"),
        ("q Q0 b 1 high t\n", "r:2: the score is \"high\"; a finite 32-bit number was expected"),
        ("q Q0 b 1 NaN t\n", "r:2: the score is \"NaN\""),
        ("q Q0 b 1 -inf t\n", "r:2: the score is \"-inf\""),
        ("q Q0 b 1 1e39 t\n", "r:2: the score is \"1e39\""),
        ("q Q0 b 2 1 t\nq Q0 a 3 1 t\n", "r:3: query q has the document a already in line 1"),
    ];
    for (text, expected) in cases {
        let error = parse(&format!("{good}{text}"), "r").unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    assert_eq!(parse("\n", "r").unwrap_err().to_string(), "r has no line");
}

#[test]
fn what_cannot_be_read_back_is_not_written() {
    let cases = [
        ("q", "t", ("a", f64::NAN), "query q: the score of a is NaN; a finite"),
        ("q", "t", ("a", 1e300), "query q: the score of a is 1e300; a finite"),
        ("q", "my tag", ("a", 1.0), "\"my tag\" cannot stand in a run"),
        ("q", "t", ("a b", 1.0), "\"a b\" cannot stand in a run"),
        ("", "t", ("a", 1.0), "\"\" cannot stand in a run"),
    ];
    for (qid, tag, ranked, expected) in cases {
        let error = write_query(&mut Vec::new(), tag, qid, &[ranked]).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

#[test]
fn equal_scores_are_nudged_apart_by_as_little_as_possible() {
    let one = 1.0f32;
    let expected = [2.0, one, one.next_down(), one.next_down().next_down(), 0.5];
    assert_eq!(falling_scores([2.0, 1.0, 1.0, 1.0 - 1e-12, 0.5]), expected);
    assert_eq!(falling_scores([0.0, 0.0])[1], 0f32.next_down());
}

#[test]
fn a_reranker_orders_the_head_and_leaves_the_rest() {
    let ours: Vec<String> = (0..RERANK_DEPTH + 2).map(|at| format!("d{at:03}")).collect();
    let ours: Vec<&str> = ours.iter().map(String::as_str).collect();
    let scored = |docid: &str, score| ScoredResult { docid: docid.to_owned(), score };
    let external = [
        scored("d101", 99.0),
        scored("d007", -1.0),
        scored("d003", -1.0),
        scored("d099", 5.0),
        scored("unknown", 7.0),
    ];
    let order = rerank(&ours, &external);
    assert_eq!(order[..6], [99, 3, 7, 0, 1, 2]);
    assert_eq!(order[RERANK_DEPTH - 1..], [98, 100, 101]);
    assert_eq!(rerank(&ours, &[]), (0..ours.len()).collect::<Vec<_>>());
}

/// Scores as they come in practice: few distinct values, values that 32 bits cannot tell apart,
/// and anything else that is finite in 32 bits.
fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        (0..3i32).prop_map(f64::from),
        (0..5i32).prop_map(|ulps| 1.0 + f64::from(ulps) * 1e-16),
        -1e30..1e30,
        -1e-40..1e-40,
    ]
}

proptest! {
    #[test]
    fn the_rule_of_trec_eval_keeps_the_order_of_a_run_that_we_wrote(
        scores in prop::collection::vec(score(), 1..60),
        names in prop::sample::subsequence((0..60).collect::<Vec<u32>>(), 60).prop_shuffle(),
    ) {
        let mut scores = scores;
        scores.sort_by(|a, b| b.total_cmp(a));
        let names: Vec<String> = names.iter().map(|name| format!("https://x.test/{name}")).collect();
        let ranked: Vec<(&str, f64)> = names.iter().map(String::as_str).zip(scores).collect();
        let mut written = Vec::new();
        write_query(&mut written, "t", "q", &ranked).unwrap();
        let mut lines: Vec<&str> = std::str::from_utf8(&written).unwrap().lines().collect();
        lines.reverse();
        let read = parse(&lines.join("\n"), "r").unwrap();
        let expected: Vec<&str> = ranked.iter().map(|&(docid, _)| docid).collect();
        prop_assert_eq!(docids(&read, "q"), expected);
        let falling = falling_scores(ranked.iter().map(|&(_, score)| score));
        let found: Vec<f32> = read.queries["q"].iter().map(|result| result.score).collect();
        prop_assert_eq!(found, falling);
    }
}
