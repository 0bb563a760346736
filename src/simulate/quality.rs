//! Quality scores of a collection's pages, which are log-probabilities: from lines of
//! `url<TAB>score`, or as the corpus carries them.

use prospect_index::url;

use super::SimulateError;
use super::collection::Collection;
use crate::evaluate::rerank::PageTexts;
use crate::neural::{self, QualityModel};
use crate::policy::{NO_QUALITY, Page};

/// What fits.
const EXPECTED: &str = "a log-probability, at most 0, was expected";

/// What is wrong with a line of scores.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{}: {what}", if *line == 0 { file.clone() } else { format!("{file}:{line}") })]
pub(crate) struct ScoreFileError {
    /// The file, or the page.
    pub(crate) file: String,
    /// Line, from 1; 0 for a page.
    pub(crate) line: usize,
    /// What is wrong.
    pub(crate) what: String,
}

/// Scores by page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PageScores {
    /// By page and outside URL; [`NO_QUALITY`] where there is none.
    pub(crate) by_page: Vec<f64>,
    /// Pages without a score.
    pub(crate) missing: u32,
    /// Lines of URLs that are no page of the collection.
    pub(crate) unknown: u32,
}

/// The scores that came with the pages, if there is one.
///
/// # Errors
/// A score is above 0.
pub(crate) fn carried(collection: &Collection) -> Result<Option<PageScores>, ScoreFileError> {
    let mut by_page = vec![NO_QUALITY; collection.urls.len()];
    let mut missing = 0;
    for (page, score) in collection.quality.iter().enumerate() {
        match score {
            Some(score) if *score <= 0.0 => by_page[page] = *score,
            Some(score) => {
                let address = collection.urls.url(prospect_index::page::UrlId(page as u32));
                let what = format!("quality_score is {score}; {EXPECTED}");
                return Err(ScoreFileError { file: address.to_owned(), line: 0, what });
            }
            None => missing += 1,
        }
    }
    let any = (missing as usize) < collection.quality.len();
    Ok(any.then_some(PageScores { by_page, missing, unknown: 0 }))
}

/// The scores of a model that reads the pages, whose texts are kept; an empty page has none. Calls `progress` with the pages
/// that were read.
///
/// # Errors
/// A text cannot be read, or the model fails.
pub(crate) fn scored(
    collection: &Collection,
    model: &dyn QualityModel,
    progress: &mut dyn FnMut(u32),
) -> Result<PageScores, SimulateError> {
    let mut scores =
        PageScores { by_page: vec![NO_QUALITY; collection.urls.len()], ..PageScores::default() };
    let Some(texts) = &collection.texts else { return Ok(scores) };
    let pages: Vec<Page> = (0..collection.pages).collect();
    for pages in pages.chunks(neural::texts_a_call()) {
        let read = texts.texts(pages)?;
        let (some, read): (Vec<Page>, Vec<&str>) = pages
            .iter()
            .zip(&read)
            .filter(|(_, text)| !text.trim().is_empty())
            .map(|(page, text)| (*page, text.as_str()))
            .unzip();
        scores.missing += (pages.len() - some.len()) as u32;
        for (page, score) in some.into_iter().zip(model.score(&read)?) {
            scores.by_page[page as usize] = score;
        }
        progress(pages.last().map_or(0, |page| page + 1));
    }
    Ok(scores)
}

/// Parses scores; `file` stands for the file in messages. A later line of one URL wins.
///
/// # Errors
/// A line is malformed, or a score is above 0: seeds have priority 1, above every log-probability.
pub(crate) fn parse(
    text: &str,
    file: &str,
    collection: &Collection,
) -> Result<PageScores, ScoreFileError> {
    let mut by_page = vec![NO_QUALITY; collection.urls.len()];
    let mut has = vec![false; collection.pages as usize];
    let mut unknown = 0;
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let failed = |what| ScoreFileError { file: file.to_owned(), line: number + 1, what };
        let Some((given, score)) = line.split_once('\t') else {
            return Err(failed("no tab; `url<TAB>score` was expected".to_owned()));
        };
        let address =
            url::canonical(given).map_err(|error| failed(format!("{given:?} is {error}")))?;
        let score = match score.trim().parse::<f64>() {
            Ok(score) if score <= 0.0 && score.is_finite() => score,
            _ => {
                let score = score.trim();
                let what = format!("the score is {score:?}; {EXPECTED}");
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
    Ok(PageScores { by_page, missing, unknown })
}
