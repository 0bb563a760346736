//! What an experiment reads: its pages, queries, judgements and scores, and where its crawls start.
//! Tells what was left out, and refuses what cannot be crawled before the first crawl begins.

use std::path::Path;

use prospect_index::derived::Derived;
use prospect_index::ngram::Segment;

use super::config;
use super::identity::{VECTORS, WORK};
use super::prepare::PreparedExperiment;
use super::{Experiment, Queries};
use crate::cli::model::Model;
use crate::cli::output::{Failure, LateProgress, Progress, say, say_cuts};
use crate::cli::{doc_urls, hints, queries};
use crate::evaluate::rerank::PairScores;
use crate::evaluate::run as runs;
use crate::neural::Embedder;
use crate::report::number::with_noun;
use crate::simulate::added::AddedPages;
use crate::simulate::collection::Collection;
use crate::simulate::crawl::Start;
use crate::simulate::experiment::{Course, needs_strings};
use crate::simulate::judgements::JudgedCollection;
use crate::simulate::load::{self, Keep, PagePlace, Skipped};
use crate::simulate::vectors::CollectionVectors;
use crate::simulate::{SimulateError, quality, stopping, vectors};
use crate::sufficiency::validation::Variants;
use crate::workload::qrels::{self, Judgement, RawJudgement};
use crate::workload::{DocUrls, Workload, open_text};

impl Experiment<'_> {
    /// Reads the pages with what is added to them.
    pub(super) fn load(
        &self,
        place: &PagePlace,
        added: &AddedPages,
    ) -> Result<(Collection, Skipped), Failure> {
        let outside = self.of.settings.outside;
        if let Some(store) = &self.of.config.store {
            let collection =
                load::from_store(Path::new(store), "prospect simulate", place, outside, added)?;
            return Ok((collection, Skipped::default()));
        }
        let options = self.of.config.source()?;
        let paths = config::paths(&self.of.config.corpus);
        let mut bar = Progress::new(self.global, "reading", None);
        let loaded = load::from_corpus(&paths, &options, place, outside, added, |read, _| {
            bar.at(read, &format!("{} MB", read >> 20));
        })?;
        bar.done();
        Ok(loaded)
    }

    /// Reads the pages, and says what was left out.
    pub(super) fn collection(&self) -> Result<Collection, Failure> {
        let place =
            PagePlace::below(&self.storage.path(WORK), self.keep(), &self.of.config.words());
        let (collection, skipped) = self.load(&place, &AddedPages::default())?;
        if self.of.config.store.is_some() {
            return Ok(collection);
        }
        if let Some(first) = &skipped.first {
            say(self.global, &format!("{} records skipped; the first: {first}", skipped.bad));
        }
        for line in hints::of_misnamed(&skipped.misnamed) {
            say(self.global, &line);
        }
        let line = format!(
            "{} on {}, {}; {} replaced, {} left out",
            with_noun(collection.pages, "page"),
            with_noun(collection.hosts.len(), "host"),
            with_noun(collection.link_count(), "link"),
            with_noun(collection.repeated, "record"),
            with_noun(skipped.failed, "failed fetch")
        );
        say(self.global, &line);
        say_cuts(self.global, skipped.cuts.into_iter());
        Ok(collection)
    }

    /// n-grams of a collection, in `folder`, where a policy plans.
    pub(super) fn strings(
        &self,
        collection: &Collection,
        folder: &str,
    ) -> Result<Option<Segment>, Failure> {
        if !self.plans() {
            return Ok(None);
        }
        let directory = self.storage.fresh_directory(&format!("{folder}/strings"))?;
        Ok(Some(collection.strings(&directory).map_err(SimulateError::from)?))
    }

    /// Whether anything is planned.
    fn plans(&self) -> bool {
        needs_strings(&self.of.settings.policies) || self.of.settings.sketches.is_some()
    }

    /// What models read of pages.
    pub(super) fn keep(&self) -> Keep {
        let PreparedExperiment { settings, reranker, quality_model, .. } = &self.of;
        let assesses = settings.sufficiency || settings.lacks() || settings.stops_by_sufficiency();
        let reads = assesses || settings.stops_by_text();
        let texts = reranker.is_some() || quality_model.is_some() || reads;
        Keep { texts, titles: self.of.embedder.is_some() || self.of.judge.is_some() }
    }

    /// Vectors of a collection and of the queries, where there is an embedding model and a policy plans.
    pub(super) fn vectors(
        &self,
        collection: &Collection,
        queries: &Workload,
    ) -> Result<Option<CollectionVectors>, Failure> {
        let model = self.of.embedder.as_deref().filter(|_| self.plans());
        model.map(|model| self.embedded(collection, (queries, true), model)).transpose()
    }

    /// Vectors of titles, and of queries with the wordings that stop rules hold out, by the model that judges, if there is
    /// one.
    pub(super) fn judge_vectors(
        &self,
        collection: &Collection,
        queries: &Workload,
    ) -> Result<Option<CollectionVectors>, Failure> {
        let Some(model) = self.of.judge.as_deref() else { return Ok(None) };
        if !self.of.settings.stops_by_vectors() {
            return self.embedded(collection, (queries, false), model).map(Some);
        }
        let variants = stopping::wordings(queries, collection);
        let mut texts = Variants::planned(&variants, queries);
        texts.queries.extend(Variants::held_out(&variants, queries).queries);
        self.embedded(collection, (&texts, false), model).map(Some)
    }

    fn embedded(
        &self,
        collection: &Collection,
        texts: (&Workload, bool),
        model: &dyn Embedder,
    ) -> Result<CollectionVectors, Failure> {
        let folder = match self.cache {
            Some(folder) => folder.join(format!("vectors-{}", model.fingerprint())),
            None => self.storage.path(WORK).join(format!("{VECTORS}-{}", model.fingerprint())),
        };
        let kept = Derived::at(&folder, vectors::VERSION)?;
        let mut progress = LateProgress::new(self.global, "embed");
        let mut told = |done: usize, all: usize| {
            progress.at(done as u64, Some(all as u64), &format!("{done} of {all} texts"));
        };
        let (vectors, damaged) =
            CollectionVectors::new(collection, texts, model, &kept, &mut told)?;
        progress.done();
        if let Some(why) = damaged {
            say(self.global, &format!("vectors in {}: made anew ({why})", folder.display()));
        }
        Ok(vectors)
    }

    fn workload_of(&self, path: Option<&str>) -> Result<Workload, Failure> {
        match path {
            Some(path) => queries::load(Path::new(path), self.global),
            None => Ok(Workload::default()),
        }
    }

    fn judgements(&self) -> Result<Vec<Judgement>, Failure> {
        let Some(path) = &self.of.config.qrels else { return Ok(Vec::new()) };
        let path = Path::new(path);
        let Some(map) = &self.of.config.doc_urls else { return Ok(qrels::load(path)?) };
        let judgements = doc_urls::judgements(path, &DocUrls::load(Path::new(map))?, self.global)?;
        let judged = |RawJudgement { qid, docid: url, grade, .. }| Judgement { qid, url, grade };
        Ok(judgements.into_iter().map(judged).collect())
    }

    pub(super) fn queries(&self, collection: &Collection) -> Result<Queries, Failure> {
        let analyzer = collection.text.analyzer();
        let given = self.workload_of(self.of.config.workload.as_deref())?.into_words_of(analyzer);
        let evaluation = match &self.of.config.eval_workload {
            Some(path) => self.workload_of(Some(path))?.into_words_of(analyzer),
            None => given.clone(),
        };
        if !given.queries.is_empty() && given.for_planning().queries.is_empty() {
            say(
                self.global,
                "no query has a word that is no stop word: nothing can be planned for",
            );
        }
        if given.queries.is_empty() {
            say(self.global, "no queries: impact is 0 for all; --workload names some");
        }
        let judgements = self.judgements()?;
        let judged = JudgedCollection::new(collection, &evaluation, &judgements);
        if !matches!(self.of.config.runs.as_deref(), None | Some("none")) {
            // What cannot be written is refused before the crawls.
            judged.queries.iter().try_for_each(|judged| runs::check_name(&judged.query.qid))?;
        }
        if self.of.config.qrels.is_some() {
            let line = format!(
                "{} of {} queries have a relevant page; {} judgements outside the collection, {} of other queries",
                judged.queries.len(),
                evaluation.queries.len(),
                judged.outside,
                judged.other_queries
            );
            say(self.global, &line);
        }
        if let (Some(path), true) = (&self.of.config.qrels, judged.queries.is_empty()) {
            let error = anyhow::anyhow!("{path}: no query has a relevant page in the collection");
            let hint = "qids and URLs of judgements, queries and pages must be the same";
            return Err(Failure::input(error, hint));
        }
        let mut external = PairScores::default();
        if let Some(path) = &self.of.config.rerank {
            let queries;
            (external, queries) = judged.scores_of(collection, &runs::load(Path::new(path))?);
            let results = external.pairs();
            if results == 0 {
                let what = "no result is of a query and of a page of the collection";
                let error = anyhow::anyhow!("{path}: {what}");
                let hint =
                    "qids of runs and queries must be the same, and runs name pages by their URLs";
                return Err(Failure::input(error, hint));
            }
            say(self.global, &format!("{path}: orders {results} results of {queries} queries"));
        }
        Ok(Queries { planning: given.for_planning(), evaluation, judged, external })
    }

    pub(super) fn quality(&self, collection: &Collection) -> Result<Option<Vec<f64>>, Failure> {
        if let Some(model) = &self.of.quality_model {
            return self.scored(model, collection).map(Some);
        }
        let Some(path) = &self.of.config.quality else { return Ok(None) };
        let wrong = |error| {
            Failure::input(error, "write `url<TAB>score` a line, scores being log-probabilities")
        };
        let scores = if path == config::CARRIED {
            quality::carried(collection).map_err(wrong)?.ok_or_else(|| {
                let error = anyhow::anyhow!("no page of the corpus has a quality_score");
                Failure::input(error, "name a file of scores with --quality FILE")
            })?
        } else {
            let text = open_text(Path::new(path))?;
            quality::parse(&text, path, collection).map_err(wrong)?
        };
        if scores.missing == collection.pages && scores.unknown > 0 {
            let error = anyhow::anyhow!("{path}: no score is of a page of the collection");
            return Err(Failure::input(error, "scores name pages by their URLs"));
        }
        if scores.missing + scores.unknown > 0 {
            let line = format!(
                "{path}: {} pages without a score, {} scores of other URLs",
                scores.missing, scores.unknown
            );
            say(self.global, &line);
        }
        Ok(Some(scores.by_page))
    }

    /// Scores of the pages by a model.
    fn scored(&self, model: &Model, collection: &Collection) -> Result<Vec<f64>, Failure> {
        let scores = model.with(|model| {
            let mut progress = LateProgress::new(self.global, "score");
            let all = Some(u64::from(collection.pages));
            let mut told = |pages: u32| {
                progress.at(u64::from(pages), all, &format!("{pages} pages scored"));
            };
            let scores = quality::scored(collection, model, &mut told);
            progress.done();
            Ok(scores?)
        })?;
        let (name, empty) = (&model.described().name, scores.missing);
        let scored = collection.pages - empty;
        say(self.global, &format!("quality by {name}: {scored} pages scored, {empty} empty"));
        Ok(scores.by_page)
    }

    /// Where crawls start and how far they go, before the first begins.
    pub(super) fn course(&self, collection: &Collection) -> Result<Course, Failure> {
        let course = Course::new(collection, &self.of.settings);
        if course.missing > 0 {
            let line = format!(
                "{} URLs of seeds or crawled pages are not in the collection",
                course.missing
            );
            say(self.global, &line);
        }
        let empty = |start: &Start| start.seeds.is_empty() && !start.all_known;
        if let Some(set) = course.starts.iter().position(empty) {
            let name = self.of.config.seeds.get(set).or(self.of.config.seeds.last());
            let name = name.map_or("seeds", String::as_str);
            let error =
                anyhow::anyhow!("{name}: no seed of set {} is a page of the collection", set + 1);
            return Err(Failure::input(error, "seeds are URLs of the collection, one a line"));
        }
        if course.fetchable == 0 {
            let error = anyhow::anyhow!("all {} pages are crawled before", collection.pages);
            return Err(Failure::input(
                error,
                "leave pages to fetch, for example --crawled share:0.9",
            ));
        }
        if course.checkpoints.is_empty() {
            let most = course.pages;
            let error = anyhow::anyhow!("no checkpoint lies within the {most} pages to fetch");
            let hint = format!("fetch more, or name them, for example --checkpoints {most}");
            return Err(Failure::input(error, hint));
        }
        if let ([only], false) = (&course.checkpoints[..], self.of.config.checkpoints.is_empty()) {
            let line = format!("crawls are evaluated once, after {only} pages");
            say(self.global, &format!("{line}: a curve takes more, as --checkpoints 1%,5%,10%"));
        }
        if let (Some(last), true) =
            (course.checkpoints.last(), self.of.config.checkpoints.is_empty())
            && (*last as usize) < course.pages
        {
            let line = format!("crawls of {} pages are evaluated last after {last}", course.pages);
            say(self.global, &format!("{line}: --checkpoints names other places"));
        }
        // Those of the default are as many as there is room for.
        if !course.beyond.is_empty() && !self.of.config.checkpoints.is_empty() {
            let beyond: Vec<String> = course.beyond.iter().map(u32::to_string).collect();
            let line = format!("checkpoints beyond the {} pages to fetch", course.pages);
            say(self.global, &format!("{line} are left out: {}", beyond.join(", ")));
        }
        Ok(course)
    }
}
