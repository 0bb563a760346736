//! Queries as tables: TSV with or without a header, CSV with one. No I/O.

use super::Query;
use super::fields::{self, Places};
use super::formats::{Assumption, At, Numbered};

/// Bytes that may part the columns of a CSV file.
const DELIMITERS: [u8; 2] = *b",;";

/// The delimiter of a CSV file, told by a header that names a column of queries.
pub(super) fn csv_delimiter(text: &str) -> Option<u8> {
    let header = text.lines().find(|line| !line.trim().is_empty())?;
    if header.contains('\t') {
        return None;
    }
    DELIMITERS.into_iter().find(|&delimiter| {
        let names = header.split(char::from(delimiter)).map(|name| name.trim().trim_matches('"'));
        Places::of(names).text.is_some()
    })
}

/// The queries of a CSV file, and what was assumed of it.
///
/// # Errors
/// The first line that is none, and what was found there.
pub(super) fn csv(text: &str, delimiter: u8) -> Result<(Numbered, Vec<Assumption>), At> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| located(&error))?;
    let line = header.position().map_or(1, |position| position.line() as usize);
    let (places, assumed) =
        (Places::of(header.iter()), Assumption::no_frequency(line, header.iter()));
    let mut queries = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| located(&error))?;
        let line = record.position().map_or(0, |position| position.line() as usize);
        if record.iter().all(|field| field.trim().is_empty()) {
            continue;
        }
        let found = places.query(queries.len() + 1, |place| record.get(place));
        queries.push((line, found.map_err(|what| (line, what))?));
    }
    Ok((queries, assumed.into_iter().collect()))
}

/// An error with its line.
fn located(error: &csv::Error) -> At {
    let line = error.position().map_or(1, |position| position.line() as usize);
    (line, error.to_string())
}

/// The queries of a TSV file, and what was assumed of it.
///
/// # Errors
/// The first line that is none, and what was found there.
pub(super) fn tsv(text: &str) -> Result<(Numbered, Vec<Assumption>), At> {
    let (mut queries, mut assumed, mut header) = (Vec::new(), Vec::new(), None);
    let (mut are_pairs, mut first) = (true, true);
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = at + 1;
        if std::mem::take(&mut first)
            && let Some(places) = header_of(line)
        {
            header = Some(places);
            let columns = line.split('\t').map(|name| name.trim().to_owned()).collect();
            assumed.push(Assumption::Header { line: number, columns });
            assumed.extend(Assumption::no_frequency(number, line.split('\t')));
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        are_pairs &= fields.len() == 2;
        let query = match header {
            Some(places) => places.query(queries.len() + 1, |place| fields.get(place).copied()),
            None => tsv_query(line, &fields),
        };
        queries.push((number, query.map_err(|what| (number, what))?));
    }
    if header.is_none() && are_pairs {
        assumed.extend(counts(&queries));
    }
    Ok((queries, assumed))
}

/// A header names a column of queries, and another part or none.
fn header_of(line: &str) -> Option<Places> {
    let columns = line.split('\t').count();
    let places = Places::of(line.split('\t'));
    (places.text.is_some() && places.count() >= columns.min(2)).then_some(places)
}

fn tsv_query(line: &str, fields: &[&str]) -> Result<Query, String> {
    let [qid, text, rest @ ..] = fields else {
        let commas = if line.contains([',', ';']) {
            ", but commas: a CSV file starts with a header that names its columns"
        } else {
            ""
        };
        return Err(format!("a line needs at least qid<TAB>query; it has no tab{commas}"));
    };
    let part = |place: usize| rest.get(place).copied().unwrap_or_default().trim();
    fields::query(qid.trim(), text.trim(), part(0), part(1))
}

/// Queries that are all numbers, of ids that are words: they may count how often the ids are asked.
fn counts(queries: &Numbered) -> Option<Assumption> {
    let is_count = |text: &str| text.parse::<f64>().is_ok();
    let looks_so = |(_, query): &(usize, Query)| is_count(&query.text) && !is_count(&query.qid);
    let (line, query) = queries.first()?;
    let is_word = |qid: &str| qid.contains(' ') || qid.chars().all(char::is_alphabetic);
    let all = queries.iter().all(looks_so) && queries.iter().any(|(_, q)| is_word(&q.qid));
    all.then(|| Assumption::Counts {
        line: *line,
        qid: query.qid.clone(),
        text: query.text.clone(),
    })
}
