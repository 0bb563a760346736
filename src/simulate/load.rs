//! Bringing a collection in: from a corpus (any format that `prospect ingest` reads) or a store.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};

use prospect_index::error::StoreError;
use prospect_index::ingest::{PreparedLink, PreparedPage, prepare};
use prospect_index::link_context::locate;
use prospect_index::page::{Outlink, PageRecord, UrlId};
use prospect_index::page_store::{Fetch, Known, PageText, for_each_text};
use prospect_index::store::Store;
use prospect_index::text_index::TextIndex;
use prospect_index::words::{Analyzer, WordOptions};
use rayon::prelude::*;

use super::SimulateError;
use super::added::AddedPages;
use super::collection::{Collection, CollectionBuilder, Outside};
use super::page_texts::TextWriter;
use crate::ingest::{
    self, BadReason, IngestError, MisnamedKeys, Origin, PageSource, SourceItem, SourceOptions,
};

/// Records that are parsed at a time.
const BATCH: usize = 2_000;

/// Where the files of a collection go.
#[derive(Clone, Debug)]
pub(crate) struct PagePlace {
    /// Directory of the text index.
    index: PathBuf,
    /// The pages' texts, where a model is to read them.
    texts: Option<PathBuf>,
    keep: Keep,
    analyzer: Analyzer,
}

/// What is kept of pages beside what every crawl needs, because a model reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keep {
    /// Their texts, on disk.
    pub(crate) texts: bool,
    /// Their titles.
    pub(crate) titles: bool,
}

impl PagePlace {
    /// [`PagePlace::NAMES`] below a directory; the texts only if they are to be kept. Their words are made as `words` say.
    pub(crate) fn below(directory: &Path, keep: Keep, words: &WordOptions) -> Self {
        let [index, texts] = Self::NAMES.map(|name| directory.join(name));
        let texts = keep.texts.then_some(texts);
        Self { index, texts, keep, analyzer: Analyzer::from(words) }
    }

    /// Names of the text index and of the texts.
    pub(crate) const NAMES: [&str; 2] = ["text", "texts"];

    fn writer(&self) -> Result<Option<TextWriter>, StoreError> {
        self.texts.as_deref().map(TextWriter::create).transpose()
    }
}

/// What was left out while a corpus was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skipped {
    /// Records that are no page, with the first of them.
    pub(crate) bad: u64,
    /// The first of them, with its place.
    pub(crate) first: Option<String>,
    /// What is wrong with the first that should have been a page.
    unread: Option<(BadReason, Origin, String)>,
    /// Keys that nothing read and that look like those of a page.
    pub(crate) misnamed: MisnamedKeys,
    /// Failed fetches.
    pub(crate) failed: u64,
    /// What was cut or left out of pages, and how often, by name.
    pub(crate) cuts: BTreeMap<&'static str, u64>,
}

impl Skipped {
    /// Why there is no page.
    fn no_pages(self) -> SimulateError {
        let Self { bad: lines, unread, misnamed, .. } = self;
        let Some((reason, origin, detail)) = unread else { return SimulateError::NoPages };
        IngestError::NoPages { lines, origin, reason, detail, misnamed }.into()
    }
}

/// Reads a corpus, with what is added to it; its text index is built in its place.
///
/// # Errors
/// The corpus cannot be read or has no page, or a file of the collection cannot be written.
pub(crate) fn from_corpus(
    paths: &[PathBuf],
    options: &SourceOptions,
    place: &PagePlace,
    outside: Outside,
    added: &AddedPages,
    mut progress: impl FnMut(u64, Option<u64>),
) -> Result<(Collection, Skipped), SimulateError> {
    let mut source = ingest::open(paths, options)?;
    let mut builder =
        CollectionBuilder::default().with_titles(place.keep.titles).with_analyzer(&place.analyzer);
    let mut skipped = Skipped::default();
    let mut waiting: VecDeque<PreparedPage> = VecDeque::new();
    let mut kept = place.writer()?;
    let mut last = Some(added.pages.clone());
    let mut failure: Option<SimulateError> = None;
    let texts = std::iter::from_fn(|| {
        while waiting.is_empty() {
            match next_pages(source.as_mut(), &mut builder, &mut skipped) {
                Ok(Some(pages)) => waiting.extend(pages),
                Ok(None) => waiting.extend(last.take()?),
                Err(error) => {
                    failure = Some(error.into());
                    return None;
                }
            }
            let (read, of) = source.progress();
            progress(read, of);
        }
        let page = waiting.pop_front()?;
        let links = page.links.iter().chain(added.links_of(page.url().0));
        builder.add(page.url(), &page.record.title, page.record.quality_score, links);
        let PageRecord { title, text, .. } = page.record;
        if let Some(Err(error)) = kept.as_mut().map(|kept| kept.add(&title, &text)) {
            failure = Some(error.into());
            return None;
        }
        Some((title, text))
    });
    let text = TextIndex::build_with(&place.index, &place.analyzer, texts)?;
    if let Some(error) = failure {
        return Err(error);
    }
    skipped.misnamed = source.misnamed();
    if builder.documents() == 0 {
        return Err(skipped.no_pages());
    }
    Ok((builder.with_texts(kept).finish(&text, outside)?, skipped))
}

/// The next pages; none at the end of the corpus.
fn next_pages(
    source: &mut dyn PageSource,
    builder: &mut CollectionBuilder,
    skipped: &mut Skipped,
) -> Result<Option<Vec<PreparedPage>>, ingest::IngestError> {
    let items = source.next_batch(BATCH)?;
    if items.is_empty() {
        return Ok(None);
    }
    let unread = items.iter().find_map(|item| match item {
        SourceItem::Bad { reason, origin, detail } => {
            Some((*reason, origin.clone(), detail.clone()))
        }
        _ => None,
    });
    skipped.unread = skipped.unread.take().or(unread);
    let prepared: Vec<Result<PreparedPage, String>> = items
        .into_par_iter()
        .map(|item| match item {
            SourceItem::Page { record, origin, cuts } => {
                let mut page =
                    prepare(record).map_err(|error| format!("{origin}: the URL is {error}"))?;
                page.note_cuts(&cuts);
                Ok(page)
            }
            SourceItem::Bad { reason, origin, detail } => {
                Err(format!("{origin}: {reason}: {detail}"))
            }
            SourceItem::Other { reason, origin, detail } => {
                Err(format!("{origin}: {reason}: {detail}"))
            }
        })
        .collect();
    let mut pages = Vec::with_capacity(prepared.len());
    for page in prepared {
        match page {
            Ok(page) if page.is_success() => {
                for (&name, &times) in &page.cuts {
                    *skipped.cuts.entry(name).or_insert(0) += times;
                }
                pages.push(page);
            }
            Ok(page) => {
                builder.add_failed(page.url());
                skipped.failed += 1;
            }
            Err(what) => {
                skipped.bad += 1;
                skipped.first.get_or_insert(what);
            }
        }
    }
    Ok(Some(pages))
}

/// Reads the pages of a store in their current versions, for the command `holder`, with what is added to
/// them; the text index is built in its place with words as the store has them, and the store is left as it is.
///
/// # Errors
/// The store cannot be read or has no page, or a file of the collection cannot be written.
pub(crate) fn from_store(
    root: &Path,
    holder: &str,
    place: &PagePlace,
    outside: Outside,
    added: &AddedPages,
) -> Result<Collection, SimulateError> {
    let store = Store::snapshot(root, holder)?;
    let known = store.known()?;
    if known.pages.len() == 0 {
        return Err(SimulateError::NoPages);
    }
    let place = &PagePlace { analyzer: known.analyzer.clone(), ..place.clone() };
    let mut pages: Vec<PageText> = Vec::with_capacity(known.pages.len());
    for_each_text(store.storage(), store.manifest(), 0, |texts| {
        let current = |page: &PageText| known.pages.page_seq(page.url) == Some(page.seq);
        pages.extend(texts.into_iter().filter(current));
        Ok(())
    })?;
    let mut builder =
        CollectionBuilder::default().with_titles(place.keep.titles).with_analyzer(&place.analyzer);
    let mut kept = place.writer()?;
    let mut around = HashMap::new();
    known.for_each_link_context(store.storage(), store.manifest(), |_, to, seq, text| {
        around.insert((seq, to), text.to_owned());
    })?;
    for url in known.urls.ids() {
        if matches!(known.pages.fetch(url), Fetch::Failed { .. }) {
            builder.add_failed((known.urls.url(url), known.urls.spelling(url)));
        }
    }
    for page in &pages {
        add_stored(&mut builder, &known, page, &around, added);
    }
    let mut texts: Vec<_> = pages.into_iter().map(|page| (page.title, page.text)).collect();
    for page in &added.pages {
        builder.add(page.url(), &page.record.title, None, page.links.iter());
        texts.push((page.record.title.clone(), page.record.text.clone()));
    }
    if let Some(kept) = &mut kept {
        for (title, text) in &texts {
            kept.add(title, text)?;
        }
    }
    let text = TextIndex::build_with(&place.index, &place.analyzer, texts)?;
    Ok(builder.with_texts(kept).finish(&text, outside)?)
}

/// Adds a page of a store, which has the texts `around` some of its links, by `fetch_seq` and target;
/// the others are looked for in its text.
fn add_stored(
    builder: &mut CollectionBuilder,
    known: &Known,
    page: &PageText,
    around: &HashMap<(u32, UrlId), String>,
    added: &AddedPages,
) {
    let urls = &known.urls;
    let links: Vec<(UrlId, Outlink)> = known.outlinks(page.seq).collect();
    let located = locate(&page.text, links.iter().map(|(_, link)| link.anchor.as_str()));
    let mut rows = Vec::with_capacity(links.len());
    for ((to, shown), located) in links.into_iter().zip(located) {
        let around = around.get(&(page.seq, to)).cloned().unwrap_or(located);
        let canonical = urls.url(to).to_owned();
        rows.push(PreparedLink { canonical, shown: Outlink { around, ..shown } });
    }
    let links = rows.iter().chain(added.links_of(urls.url(page.url)));
    let quality = known.quality(page.url).map(f64::from);
    builder.add((urls.url(page.url), urls.spelling(page.url)), &page.title, quality, links);
}
