//! Quality scores of a collection's pages: `url<TAB>score` a line, scores being log-probabilities.

use prospect_index::url;

use super::collection::Collection;
use crate::policy::NO_QUALITY;

/// What is wrong with a line of scores.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{file}:{line}: {what}")]
pub struct QualityError {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// Scores by page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// By page and outside URL; [`NO_QUALITY`] where there is none.
    pub by_page: Vec<f64>,
    /// Pages without a score.
    pub missing: u32,
    /// Lines of URLs that are no page of the collection.
    pub unknown: u32,
}

/// Parses scores; `file` stands for the file in messages. A later line of one URL wins.
///
/// # Errors
/// A line is malformed, or a score is above 0: seeds have priority 1, above every log-probability.
pub fn parse(text: &str, file: &str, collection: &Collection) -> Result<Scores, QualityError> {
    let mut by_page = vec![NO_QUALITY; collection.urls.len()];
    let mut has = vec![false; collection.pages as usize];
    let mut unknown = 0;
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let failed = |what| QualityError { file: file.to_owned(), line: number + 1, what };
        let Some((given, score)) = line.split_once('\t') else {
            return Err(failed("no tab; `url<TAB>score` was expected".to_owned()));
        };
        let address =
            url::canonical(given).map_err(|error| failed(format!("{given:?} is {error}")))?;
        let score = match score.trim().parse::<f64>() {
            Ok(score) if score <= 0.0 && score.is_finite() => score,
            _ => {
                let score = score.trim();
                let what =
                    format!("the score is {score:?}; a log-probability, at most 0, was expected");
                return Err(failed(what));
            }
        };
        match collection.page(&address) {
            Some(page) => {
                by_page[page as usize] = score;
                has[page as usize] = true;
            }
            None => unknown += 1,
        }
    }
    let missing = has.iter().filter(|has| !**has).count() as u32;
    Ok(Scores { by_page, missing, unknown })
}
