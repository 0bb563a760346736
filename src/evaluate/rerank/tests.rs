//! Claims about the order, and about what a model is asked.

use std::sync::Mutex;

use super::*;
use crate::evaluate::checkpoints::JudgedPages;
use crate::workload::Query;

#[test]
fn reranked_results_come_first_by_score_and_others_keep_their_order() {
    let top = [(4, 9.0), (7, 8.0), (1, 7.0), (3, 6.0)];
    let scores = [(1, 0.5), (3, 2.0), (9, 5.0)];
    assert_eq!(order(&top, &scores), [3, 1, 4, 7]);
    assert_eq!(order(&top, &[]), Vec::<u32>::new());
    assert_eq!(ranking(&top, &scores), [(3, 2.0), (1, 0.5), (4, 0.5), (7, 0.5)]);
    assert_eq!(ranking(&top, &[]), top);
    let equal = [(1, 0.5), (3, 0.5), (4, 0.5), (7, 0.5)];
    assert_eq!(order(&top, &equal), [4, 7, 1, 3], "ties are as they were");
}

/// Scores by length, and remembers what it was asked.
struct Asked(Mutex<Vec<(String, Vec<String>)>>);

impl PairModel for Asked {
    fn name(&self) -> &'static str {
        "asked"
    }

    fn fingerprint(&self) -> &'static str {
        "a"
    }

    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        let asked = (query.to_owned(), texts.iter().map(ToString::to_string).collect());
        self.0.lock().unwrap().push(asked);
        Ok(texts.iter().map(|text| -(text.len() as f64)).collect())
    }
}

struct Numbers;

impl PageTexts for Numbers {
    fn texts(&self, pages: &[u32]) -> Result<Vec<String>, StoreError> {
        Ok(pages.iter().map(|page| format!("page {page}")).collect())
    }
}

#[test]
fn every_pair_is_scored_once_with_few_texts_at_a_time() {
    let queries = [("1", "Two Words"), ("2", "none"), ("3", "one")];
    let queries = queries.map(|(qid, text)| {
        let query = Query::new(qid, text, 1.0, "");
        JudgedQuery { query, judged: JudgedPages::default() }
    });
    let candidates = vec![(0..300).collect(), BTreeSet::new(), BTreeSet::from([7, 70])];
    let model = Asked(Mutex::default());
    let mut told = Vec::new();
    let mut progress = |done, all| told.push((done, all));
    let scores = score(&model, &Numbers, &queries, &candidates, &mut progress).unwrap();
    let asked = model.0.into_inner().unwrap();
    let calls: Vec<(&str, usize)> = asked.iter().map(|(q, texts)| (&**q, texts.len())).collect();
    let long = "Two Words";
    assert_eq!(calls, [(long, CHUNK), (long, CHUNK), (long, 300 - 2 * CHUNK), ("one", 2)]);
    assert_eq!(asked[3].1, ["page 7", "page 70"]);
    assert_eq!(told, [(0, 302), (128, 302), (256, 302), (300, 302), (302, 302)]);
    assert_eq!((scores.pairs(), scores.of(0).len(), scores.of(1).len()), (302, 300, 0));
    assert_eq!(scores.of(2), [(7, -6.0), (70, -7.0)]);
    assert_eq!(scores.of(3), []);
}
