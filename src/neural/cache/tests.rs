//! Claims about the cache, over a model that counts what it is asked.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

struct Counting {
    fingerprint: &'static str,
    scored: AtomicUsize,
}

impl Counting {
    fn new(fingerprint: &'static str) -> Self {
        Self { fingerprint, scored: AtomicUsize::new(0) }
    }

    fn scored(&self) -> usize {
        self.scored.load(Ordering::Relaxed)
    }
}

impl QualityModel for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn fingerprint(&self) -> &str {
        self.fingerprint
    }

    fn score(&self, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        self.scored.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().map(|text| -1.0 / (text.len() as f64 + 3.0)).collect())
    }
}

impl PairModel for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn fingerprint(&self) -> &str {
        self.fingerprint
    }

    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        let of_texts = QualityModel::score(self, texts)?;
        Ok(of_texts.into_iter().map(|score| score - query.len() as f64).collect())
    }
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| "word ".repeat(number)).collect()
}

/// Scores `texts` in a cache of its own and says how many the model was asked for.
fn score(directory: &Path, fingerprint: &'static str, texts: &[String]) -> (Vec<u64>, usize) {
    let model = Counting::new(fingerprint);
    let cached = Cached::open(directory, &model).unwrap();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores = cached.score(&texts).unwrap();
    cached.flush().unwrap();
    (scores.into_iter().map(f64::to_bits).collect(), model.scored())
}

fn only_file(directory: &Path) -> std::path::PathBuf {
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

#[test]
fn a_second_run_scores_nothing_and_says_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let texts = texts(40);
    let (first, scored) = score(folder.path(), "aa", &texts);
    assert_eq!(scored, 40);
    let before = std::fs::read(only_file(folder.path())).unwrap();
    assert_eq!(before.len(), 32 * 41);
    assert_eq!(score(folder.path(), "aa", &texts), (first, 0));
    assert_eq!(std::fs::read(only_file(folder.path())).unwrap(), before);
}

#[test]
fn a_text_that_comes_twice_is_scored_once() {
    let folder = tempfile::tempdir().unwrap();
    let texts: Vec<String> = ["one", "two", "one", "one"].map(String::from).to_vec();
    let (scores, scored) = score(folder.path(), "aa", &texts);
    assert_eq!(scored, 2);
    assert_eq!(scores[0], scores[2]);
    assert_ne!(scores[0].to_le_bytes(), 0u64.to_le_bytes());
}

#[test]
fn another_fingerprint_is_another_file() {
    let folder = tempfile::tempdir().unwrap();
    score(folder.path(), "aa", &texts(3));
    assert_eq!(score(folder.path(), "bb", &texts(3)).1, 3);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    assert_eq!(score(folder.path(), "aa", &texts(3)).1, 0);
}

#[test]
fn a_torn_tail_is_cut_off_wherever_it_is_torn() {
    let texts = texts(4);
    for end in 0..32 * 5 {
        let folder = tempfile::tempdir().unwrap();
        let (first, _) = score(folder.path(), "aa", &texts);
        let path = only_file(folder.path());
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..end]).unwrap();
        let left = (end / 32).saturating_sub(1);
        assert_eq!(score(folder.path(), "aa", &texts), (first.clone(), 4 - left), "cut at {end}");
        assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {end}");
    }
}

#[test]
fn a_damaged_record_is_scored_again_in_its_place() {
    let texts = texts(4);
    for byte in 0..32 * 5 {
        let folder = tempfile::tempdir().unwrap();
        let (first, _) = score(folder.path(), "aa", &texts);
        let path = only_file(folder.path());
        let whole = std::fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        damaged[byte] ^= 0x10;
        std::fs::write(&path, damaged).unwrap();
        let lost = if byte < 32 { 4 } else { 1 };
        assert_eq!(score(folder.path(), "aa", &texts), (first.clone(), lost), "byte {byte}");
        assert_eq!(std::fs::read(&path).unwrap(), whole, "byte {byte}");
    }
}

#[test]
fn two_that_write_side_by_side_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (Counting::new("aa"), Counting::new("aa"));
    let (a, b) =
        (Cached::open(folder.path(), &one).unwrap(), Cached::open(folder.path(), &two).unwrap());
    let all = texts(60);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    std::thread::scope(|scope| {
        for (cached, half) in [(&a, &all[..30]), (&b, &all[30..])] {
            scope.spawn(move || {
                for text in half {
                    cached.score(&[*text]).unwrap();
                    cached.flush().unwrap();
                }
            });
        }
    });
    assert_eq!(score(folder.path(), "aa", &texts(60)).1, 0);
}

fn score_pairs(directory: &Path, model: &Counting, query: &str, texts: &[&str]) -> Vec<f64> {
    let cached = CachedPairs::open(directory, model).unwrap();
    cached.score(query, texts).unwrap()
}

#[test]
fn pairs_are_remembered_by_query_and_text() {
    let folder = tempfile::tempdir().unwrap();
    let model = Counting::new("aa");
    let score = |query: &str, texts: &[&str]| score_pairs(folder.path(), &model, query, texts);
    let first = [score("q", &["one", "two", "one"]), score("long", &["one"])];
    assert_eq!((model.scored(), first[0][0]), (3, first[0][2]));
    assert_ne!(first[0][0], first[1][0]);
    // What is a query's and what a text's is told apart.
    score("one", &["q"]);
    score("qo", &["ne"]);
    assert_eq!(model.scored(), 5);
    assert_eq!([score("q", &["one", "two", "one"]), score("long", &["one"])], first);
    assert_eq!(model.scored(), 5);
    assert_eq!(std::fs::read(only_file(folder.path())).unwrap().len(), 32 * 6);
}
