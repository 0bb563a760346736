//! A run of our own: BM25 over the pages of a corpus or a store, reranked where a cross-encoder or
//! another system's run is given.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use prospect_index::bm25::Bm25;
use prospect_index::checkpoints::FetchOrder;
use prospect_index::page::UrlId;
use prospect_index::page_store::NONE;
use prospect_index::url;

use super::Args;
use crate::cli::Global;
use crate::cli::doc_urls::{self, Fragments};
use crate::cli::model::CrossEncoder;
use crate::cli::output::{self, Failure, say};
use crate::cli::queries;
use crate::evaluate::checkpoints::{CrawlEvaluation, JudgedPages, JudgedQuery, Lists};
use crate::evaluate::judgements::{Judgements, QueryJudgements};
use crate::evaluate::metrics::DEPTH;
use crate::evaluate::rerank::{Candidates, PairScores, score};
use crate::evaluate::run::{self, Run, ScoredResult};
use crate::ingest::SourceOptions;
use crate::simulate::added::AddedPages;
use crate::simulate::collection::{Collection, Outside};
use crate::simulate::load::{self, Keep, PagePlace};
use crate::workload::qrels::RawJudgement;
use crate::workload::{DocUrls, Workload, WorkloadError, shown};

/// Name of our system in runs.
const TAG: &str = "prospect-bm25";

/// How many folders of other processes may be in the way.
const OTHERS: u32 = 100;

/// A new folder for temporary files. One that is there is of another process, or of a user who guessed its name.
fn own_directory() -> Result<PathBuf, Failure> {
    let (place, id) = (std::env::temp_dir(), std::process::id());
    let mut number = 0;
    loop {
        let directory = place.join(format!("prospect-evaluate-{id}-{number}"));
        match std::fs::create_dir(&directory) {
            Ok(()) => return Ok(directory),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < OTHERS => {
                number += 1;
            }
            Err(error) => {
                let what = format!("cannot make {}", directory.display());
                let error = anyhow::Error::new(error).context(what);
                return Err(Failure::input(
                    error,
                    "TMPDIR names another folder for temporary files",
                ));
            }
        }
    }
}

/// Searches, if pages are given.
pub(super) fn run(
    args: &Args,
    map: Option<&DocUrls>,
    judgements: &Judgements,
    global: &Global,
) -> Result<Option<Run>, Failure> {
    let Some(path) = &args.workload else { return Ok(None) };
    let workload = queries::load(path, global)?;
    if args.write_run.is_some() {
        // What cannot be written is refused before the search.
        workload.queries.iter().try_for_each(|query| run::check_name(&query.qid))?;
    }
    let load = |directory| args.runtime.cross_encoder(directory, global);
    let reranker = args.rerank_model.as_deref().map(load).transpose()?;
    let directory = own_directory()?;
    let keep = Keep { texts: reranker.is_some(), titles: false };
    let place = PagePlace::below(&directory, keep, &args.words.options());
    let collection = collection(args, &place);
    let run = collection.and_then(|collection| {
        let pages = collection.pages;
        say(global, &format!("{pages} pages, BM25 with k1 {} and b {}", args.k1, args.b));
        let workload = workload.into_words_of(collection.text.analyzer());
        let queries = judged(&workload, judgements, &collection);
        Search { args, collection, queries, reranker }.run(global)
    });
    // What is left of the index is of no use to anyone, whether or not the search went well.
    let _ = std::fs::remove_dir_all(&directory);
    let mut run = run?;
    if let Some(path) = &args.rerank {
        rerank(&mut run, &super::load_run(path, map, Fragments::Pages, global)?);
    }
    if let Some(path) = &args.write_run {
        write(&run, path)?;
    }
    Ok(Some(run))
}

fn collection(args: &Args, place: &PagePlace) -> Result<Collection, Failure> {
    if let Some(store) = &args.store {
        return Ok(load::from_store(
            store,
            "prospect evaluate",
            place,
            Outside::Drop,
            &AddedPages::default(),
        )?);
    }
    let urls_of_ids = doc_urls::of_pages(args.doc_urls.as_deref())?;
    let options = SourceOptions { urls_of_ids, ..SourceOptions::default() };
    let added = AddedPages::default();
    Ok(load::from_corpus(&args.corpus, &options, place, Outside::Drop, &added, |_, _| {})?.0)
}

/// All queries, with what is judged of them.
fn judged(
    workload: &Workload,
    judgements: &Judgements,
    collection: &Collection,
) -> Vec<JudgedQuery> {
    let mut judged = Vec::with_capacity(workload.queries.len());
    for query in &workload.queries {
        let grades =
            judgements.queries.get(&query.qid).into_iter().flat_map(QueryJudgements::grades);
        let pages = grades.filter_map(|(url, grade)| Some((collection.page(url)?, grade)));
        let pages = JudgedPages::new(pages.collect());
        judged.push(JudgedQuery { query: query.clone(), judged: pages });
    }
    judged
}

/// A search over all pages.
struct Search<'a> {
    args: &'a Args,
    collection: Collection,
    queries: Vec<JudgedQuery>,
    reranker: Option<CrossEncoder>,
}

impl Search<'_> {
    /// The first results of every query.
    fn run(&self, global: &Global) -> Result<Run, Failure> {
        let collection = &self.collection;
        let url_order = collection.by_document(&collection.url_order, NONE);
        let evaluation = CrawlEvaluation {
            text: &collection.text,
            bm25: Bm25 { k1: self.args.k1, b: self.args.b },
            url_order: &url_order,
            queries: &self.queries,
            reranker: &PairScores::default(),
        };
        let all: Vec<u32> = (0..collection.pages).collect();
        let position = collection.by_document(&all, NONE);
        let crawl = FetchOrder { position: &position, checkpoints: &[collection.pages] };
        let scores = self.scores(&evaluation, crawl, global)?;
        let evaluation = CrawlEvaluation { reranker: &scores, ..evaluation };
        let rankings = evaluation.rankings(crawl, DEPTH as usize)?;
        let mut lists = BTreeMap::new();
        for (judged, checkpoints) in self.queries.iter().zip(rankings) {
            let ranked = checkpoints.into_iter().next().unwrap_or_default();
            if ranked.is_empty() {
                continue;
            }
            let scores = run::falling_scores(ranked.iter().map(|(_, score)| *score));
            let url = |page: u32| collection.urls.url(UrlId(page)).to_owned();
            let results = ranked.iter().zip(scores);
            let results =
                results.map(|(&(page, _), score)| ScoredResult { docid: url(page), score });
            lists.insert(judged.query.qid.clone(), results.collect());
        }
        Ok(Run { tag: self.tag(), queries: lists })
    }

    /// What the cross-encoder says, if there is one; of queries that are neither judged nor written
    /// it is not asked.
    fn scores(
        &self,
        evaluation: &CrawlEvaluation<'_>,
        crawl: FetchOrder<'_>,
        global: &Global,
    ) -> Result<PairScores, Failure> {
        let (Some(reranker), Some(texts)) = (&self.reranker, &self.collection.texts) else {
            return Ok(PairScores::default());
        };
        let is_written = self.args.write_run.is_some();
        let lists = if is_written { Lists::All } else { Lists::WithRelevant };
        let mut candidates = Candidates::default();
        evaluation.candidates(&[crawl], lists, &mut candidates)?;
        reranker.score(None, global, |model, progress| {
            score(model, texts, &self.queries, &candidates, progress)
        })
    }

    /// Name of the system in its run, without white space.
    fn tag(&self) -> String {
        let Some(reranker) = &self.reranker else { return TAG.to_owned() };
        let name = reranker.described().name;
        format!("{TAG}>>{}", name.split_whitespace().collect::<Vec<_>>().join("-"))
    }
}

fn rerank(run: &mut Run, external: &Run) {
    for (qid, results) in &mut run.queries {
        let Some(scores) = external.queries.get(qid) else { continue };
        let docids: Vec<&str> = results.iter().map(|result| result.docid.as_str()).collect();
        let order = run::rerank(&docids, scores);
        // What counts from here on is the order; scores that fall keep it.
        let places = (0..order.len()).map(|place| -(place as f32));
        *results = order
            .iter()
            .zip(places)
            .map(|(&at, score)| ScoredResult { docid: results[at].docid.clone(), score })
            .collect();
    }
}

fn write(run: &Run, path: &Path) -> Result<(), Failure> {
    let mut out = Vec::new();
    for (qid, results) in &run.queries {
        let list: Vec<(&str, f64)> =
            results.iter().map(|result| (result.docid.as_str(), f64::from(result.score))).collect();
        run::write_query(&mut out, &run.tag, qid, &list)?;
    }
    output::write_file(path, |file| file.write_all(&out)).map_err(|error| {
        Failure::input(output::cannot_write(path, error), "check the path given to --write-run")
    })
}

/// Judgements whose documents are pages: their URLs are made canonical.
pub(super) fn judgements(
    path: &Path,
    map: Option<&DocUrls>,
    global: &Global,
) -> Result<Judgements, Failure> {
    if let Some(map) = map {
        return Ok(Judgements::new(doc_urls::judgements(path, map, global)?, &shown(path))?);
    }
    let lines = doc_urls::judgements_as_they_are(path, Fragments::Pages)?;
    let is_no_url = |judged: &&RawJudgement| url::canonical(&judged.docid).is_err();
    if let Some(RawJudgement { docid, line, .. }) = lines.iter().find(is_no_url) {
        let (file, what) = (shown(path), format!("{docid:?} is not a URL"));
        return Err(WorkloadError::Judgement { file, line: *line, what }.into());
    }
    Ok(Judgements::new(lines, &shown(path))?)
}
