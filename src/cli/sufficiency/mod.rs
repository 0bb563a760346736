//! `prospect sufficiency`: how well the pages of a store answer a workload, and whether they are enough.

pub(super) mod language_model;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use prospect_index::limits;
use serde_json::json;

use self::language_model::{LlmArgs, Opinion, opinions};
use crate::campaign::OpenStore;
use crate::campaign::knowledge::{self, Exported};
use crate::campaign::plan::{self, Beside, Plan};
use crate::campaign::reasons::Reasons;
use crate::campaign::sufficiency::{
    BestLink, CompatibleQuery, PastSufficiency, StoreSufficiency, compatible, signals,
};
use crate::cli::Global;
use crate::cli::options::{OfScenario, OptionFlags, apply};
use crate::cli::output::{self, Failure, say};
use crate::planner::settings::PlanSettings;
use crate::report::number::{counted, thousands};
use crate::report::terminal::impact::expected;
use crate::sufficiency::assess::WorkloadSufficiency;
use crate::sufficiency::compatible::Confidence;
use crate::sufficiency::strategy::language_model::AskedModel;
use crate::sufficiency::track::K;
use crate::sufficiency::validation::{Validation, ValidationVerdict, Variants};
use crate::sufficiency::verdict::{
    Gain, QueryClass, SATURATED, Saturation, Signals, StopReason, THETA, Verdict,
};
use crate::workload::{self, Query, Workload};

/// URLs of the batch that is judged where no plan says how many.
const BUDGET: usize = 100;
/// Queries that are listed.
const SHOWN: usize = 10;
/// Characters of a query that are shown.
const QUERY_WIDTH: usize = 40;
/// Characters of a URL that are shown.
const URL_WIDTH: usize = 100;

/// Arguments of `prospect sufficiency`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// The queries: TSV, JSON lines or TREC topics; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,
    /// Sufficiency that is enough, of a query and of the workload.
    #[arg(long, value_name = "X", default_value_t = THETA)]
    theta: f64,
    /// How it is computed: as the source's `document` has it, or as its shipped code does (`compatible`), whose
    /// confidence knows no classes.
    #[arg(long, value_name = "NAME", default_value = "document", value_parser = ["document", "compatible"])]
    definition: String,
    /// Queries to list, those first that lack most.
    #[arg(long, value_name = "N", default_value_t = SHOWN)]
    show: usize,
    /// Reasons that stop the crawl: exhausted, sufficient, settled, no-gain, saturated.
    #[arg(long, value_name = "REASONS", value_delimiter = ',', default_value = "exhausted,sufficient,settled",
        value_parser = reason)]
    stop_on: Vec<StopReason>,
    /// Compare with wordings of the queries that are not planned for: a file of `qid<TAB>wording`, or `words` for the
    /// queries without one of their words, or `llm` for those that a language model gives. A fifth of them is held out.
    #[arg(long, value_name = "FILE|words|llm")]
    variants: Option<PathBuf>,
    /// Write the workload with the variants that are not held out, to plan for.
    #[arg(long, value_name = "FILE", requires = "variants")]
    planned_out: Option<PathBuf>,
    /// Write the pages of the store, with their links, as JSON lines that `prospect ingest` takes in.
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Write this file if the verdict is to stop, and remove it if it is to go on.
    #[arg(long, value_name = "FILE")]
    stop_file: Option<PathBuf>,
    #[command(flatten)]
    llm: LlmArgs,
    #[command(flatten)]
    options: OptionFlags<OfScenario>,
}

/// All that is told.
struct Found {
    sufficiency: StoreSufficiency,
    /// What held-out variants say, where there are variants.
    validation: Option<Validation>,
    /// By query that lacks most: what a language model says of it, where one is asked.
    opinions: BTreeMap<usize, Opinion>,
    /// The batch that would be next.
    plan: Plan,
    /// By query: pages that the frontier may bring into its list.
    frontier: Vec<f64>,
    classes: Vec<QueryClass>,
    history: Vec<PastSufficiency>,
    signals: Signals,
    seconds: f64,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    if !(args.theta > 0.0 && args.theta <= 1.0) {
        let error = anyhow::anyhow!("theta is {}", args.theta);
        return Err(Failure::input(error, "it lies above 0 and is at most 1: --theta 0.7"));
    }
    let workload = workload::load(&args.workload)?;
    if workload.for_planning().queries.is_empty() {
        let (file, count) = (workload::shown(&args.workload), workload.queries.len());
        let error = anyhow::anyhow!("{file}: none of the {count} queries can be assessed");
        return Err(Failure::input(error, "a query needs a word and a frequency above 0"));
    }
    let open = OpenStore::open(&args.store, "prospect sufficiency", limits::NGRAM_WORDS)?;
    output::say_refreshes(global, &open.refreshes);
    if let Some(path) = &args.export {
        export(&open, path, global)?;
    }
    let mut model = args.llm.model()?;
    let found = Found::new(&open, &workload, args, model.as_mut())?;
    if let Some(model) = &model {
        language_model::tell(model, global);
    }
    output::say_rebuilt(global, "sufficiency", found.sufficiency.rebuilt.as_deref());
    let verdict = found.signals.verdict(&args.stop_on);
    if let Some(path) = &args.stop_file {
        write_stop(path, &verdict)?;
    }
    if args.definition == "compatible" {
        let (answers, drawn) = compatible(&open, &found.sufficiency.queries)?;
        return show_compatible(&found.sufficiency, &answers, drawn, global);
    }
    if global.json {
        return output::print_json(&found.as_json(&verdict));
    }
    Ok(found.print(args, &verdict, &mut io::stdout().lock())?)
}

fn reason(given: &str) -> Result<StopReason, String> {
    let named = StopReason::ALL.into_iter().find(|reason| reason.name() == given);
    named.ok_or_else(|| {
        format!("the reasons are {}", StopReason::ALL.map(StopReason::name).join(", "))
    })
}

impl Found {
    fn new(
        open: &OpenStore,
        workload: &Workload,
        args: &Args,
        mut model: Option<&mut AskedModel>,
    ) -> Result<Self, Failure> {
        let manifest = open.store.manifest();
        let newest = manifest.newest_plan();
        let mut settings = newest
            .and_then(|newest| plan::settings::<PlanSettings>(newest).ok())
            .unwrap_or_else(|| PlanSettings::new(BUDGET));
        (settings.within, settings.embedding) = (None, None);
        settings.scope = open.scope()?;
        apply(&args.options.given, &mut settings)?;
        let mut sufficiency = StoreSufficiency::new(open, workload, settings.bm25)?;
        let validation = match &args.variants {
            Some(path) => {
                let merged = workload.for_planning();
                let drawn = variants(path, workload, &merged, model.as_deref_mut())?;
                if let Some(path) = &args.planned_out {
                    write_workload(path, &Variants::planned(&drawn, &merged))?;
                }
                sufficiency.validate(open, &merged, &drawn, settings.bm25)?
            }
            None => None,
        };
        let plan = plan::plan(open, workload, &[], &settings, Beside::All)?;
        let mut history = PastSufficiency::all(&open.store)?;
        history.retain(|past| past.workload == sufficiency.fingerprint);
        let frontier = sufficiency.candidates(&plan, K);
        let class = |(parts, pages): (&crate::sufficiency::parts::QueryParts, &f64)| {
            QueryClass::of(parts.sufficiency(), parts.saturation, *pages > 0.0, args.theta)
        };
        let classes = sufficiency.parts.iter().zip(&frontier).map(class).collect();
        let picks = &plan.choice.batch.picks;
        let signals = signals(open, &plan, &sufficiency, args.theta)?;
        let reasons = Reasons::of_plan(&open.known, &plan, &settings);
        let (_, makespan) = reasons.scheduled(picks, 0, &settings, &plan.in_flight);
        let seconds = makespan.seconds;
        let mut found = Self {
            opinions: BTreeMap::new(),
            sufficiency,
            validation,
            plan,
            frontier,
            classes,
            history,
            signals,
            seconds,
        };
        if let Some(model) = model {
            found.ask(open, args.show, model)?;
        }
        Ok(found)
    }

    /// Asks a model about the queries that lack most.
    fn ask(
        &mut self,
        open: &OpenStore,
        most: usize,
        model: &mut AskedModel,
    ) -> Result<(), Failure> {
        let planned = self.sufficiency.queries.places_of(&self.plan.workload.queries);
        let mut place_in_plan: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, place) in planned.into_iter().enumerate() {
            if let Some(place) = place {
                place_in_plan.entry(place).or_insert(at);
            }
        }
        let mut places = self.by_lack();
        places.truncate(most);
        places.retain(|place| place_in_plan.contains_key(place));
        let asked: Vec<usize> = places.iter().map(|place| place_in_plan[place]).collect();
        let opinions = opinions(model, open, &self.plan, &asked)?;
        let given = places.into_iter().zip(opinions);
        self.opinions = given.filter_map(|(at, opinion)| Some((at, opinion?))).collect();
        Ok(())
    }

    fn whole(&self) -> WorkloadSufficiency {
        self.sufficiency.whole(self.signals.theta)
    }

    /// By kind of query, where the workload tells.
    fn kinds(&self) -> BTreeMap<&str, WorkloadSufficiency> {
        let queries = self.sufficiency.queries();
        let mut kinds = BTreeMap::new();
        for query in queries.iter().filter(|query| !query.kind.is_empty()) {
            kinds.entry(query.kind.as_str()).or_insert_with(|| {
                let is_of = |at: usize| queries[at].kind == query.kind;
                self.sufficiency.of(self.signals.theta, is_of)
            });
        }
        kinds
    }

    /// Queries of a class, and the share of the askings that they have.
    fn of_class(&self, class: QueryClass) -> (usize, f64) {
        let askings = |takes: &dyn Fn(QueryClass) -> bool| {
            let all = self.sufficiency.queries().iter().zip(&self.classes);
            let of = all.filter(|(_, own)| takes(**own));
            of.fold((0, 0.0), |(count, sum), (query, _)| (count + 1, sum + query.frequency))
        };
        let ((count, own), (_, all)) = (askings(&|own| own == class), askings(&|_| true));
        (count, if all > 0.0 { own / all } else { 0.0 })
    }

    /// Places of the queries, those first that lack most: how often it is asked times what is missing.
    fn by_lack(&self) -> Vec<usize> {
        let queries = self.sufficiency.queries();
        let lack =
            |at: usize| queries[at].frequency * (1.0 - self.sufficiency.parts[at].sufficiency());
        let mut places: Vec<usize> = (0..queries.len()).collect();
        places.sort_by(|&a, &b| lack(b).total_cmp(&lack(a)).then(a.cmp(&b)));
        places
    }

    fn as_json(&self, verdict: &Verdict) -> serde_json::Value {
        let queries = self.sufficiency.queries();
        let each = (0..queries.len()).map(|at| {
            let (query, parts) = (&queries[at], &self.sufficiency.parts[at]);
            json!({
                "qid": query.qid,
                "query": query.text,
                "kind": query.kind,
                "frequency": query.frequency,
                "coverage": parts.coverage,
                "words": parts.words,
                "consistency": parts.consistency,
                "saturation": parts.saturation,
                "redundancy": parts.redundancy,
                "domain_coverage": parts.domain_coverage,
                "sufficiency": parts.sufficiency(),
                "confidence": parts.confidence(),
                "missing_words": self.sufficiency.missing[at],
                "frontier": self.frontier[at],
                "class": self.classes[at],
                "language_model": self.opinions.get(&at),
            })
        });
        let classes: BTreeMap<&str, serde_json::Value> = QueryClass::ALL
            .into_iter()
            .map(|class| {
                let (queries, share) = self.of_class(class);
                (class.name(), json!({"queries": queries, "askings": share}))
            })
            .collect();
        json!({
            "schema": "prospect.sufficiency/1",
            "definition": "document",
            "theta": self.signals.theta,
            "pages": self.sufficiency.pages,
            "epoch": self.sufficiency.epoch,
            "workload": self.whole(),
            "kinds": self.kinds(),
            "classes": classes,
            "saturation": self.signals.saturation,
            "churn": self.signals.churn,
            "verdict": verdict,
            "validation": self.validation,
            "next_batch": {
                "urls": self.plan.choice.batch.picks.len(),
                "seconds": self.seconds,
                "expected_impact": self.plan.expected,
                "gain": self.signals.gain,
            },
            "queries": each.collect::<Vec<_>>(),
            "history": self.history,
        })
    }

    fn print(&self, args: &Args, verdict: &Verdict, out: &mut dyn Write) -> io::Result<()> {
        let (whole, theta) = (self.whole(), self.signals.theta);
        let StoreSufficiency { pages, epoch, .. } = &self.sufficiency;
        writeln!(
            out,
            "{} asked {} times over {}, statistics epoch {}",
            queries_of(whole.queries),
            whole.askings,
            counted(*pages as u64, "page"),
            epoch.number
        )?;
        writeln!(out, "{}", whole_line(&whole, theta))?;
        let parts = &whole.parts;
        writeln!(
            out,
            "  coverage {:.3} (by words one by one {:.3}), consistency {:.3}, redundancy {:.3}, coverage of the domain \
             {:.3}",
            parts.coverage, parts.words, parts.consistency, parts.redundancy, parts.domain_coverage
        )?;
        writeln!(out, "  {}", saturation_line(self.sufficiency.saturation))?;
        for (kind, of) in self.kinds() {
            let (kind, of) = (output::shown(kind, QUERY_WIDTH), whole_line(&of, theta));
            writeln!(out, "  {kind}: {of}")?;
        }
        for class in QueryClass::ALL {
            let (queries, share) = self.of_class(class);
            writeln!(
                out,
                "  {:<10}  {:>15}, {:>5.1} % of the askings: {}",
                class.name(),
                queries_of(queries),
                100.0 * share,
                meaning(class, theta)
            )?;
        }
        writeln!(out, "{}", self.batch_line())?;
        writeln!(out, "verdict: {}", verdict_line(&self.signals, verdict))?;
        if let Some(validation) = &self.validation {
            writeln!(out, "{}", validation_line(validation))?;
        }
        if args.show > 0 {
            self.print_queries(args.show, out)?;
        }
        self.print_history(out)
    }

    fn batch_line(&self) -> String {
        let urls = counted(self.plan.choice.batch.picks.len() as u64, "URL");
        let Some(both) = &self.plan.expected else {
            return format!(
                "one more batch of {urls}: what it brings is not foreseen before the first page is there"
            );
        };
        format!(
            "one more batch of {urls}, {} s of a polite crawler: impact that enters lists {}",
            self.seconds,
            expected(&both.enters)
        )
    }

    fn print_queries(&self, most: usize, out: &mut dyn Write) -> io::Result<()> {
        let queries = self.sufficiency.queries();
        let places = self.by_lack();
        let shown = &places[..places.len().min(most)];
        writeln!(
            out,
            "\n{:>11} {:>9} {:>8} {:>11} {:>10} {:>10} {:>8} {:>8}  {:<10}  query: words that no page holds",
            "sufficiency",
            "asked",
            "coverage",
            "consistency",
            "redundancy",
            "saturation",
            "domain",
            "frontier",
            "class"
        )?;
        for &at in shown {
            let (Query { text, frequency, .. }, parts) =
                (&queries[at], &self.sufficiency.parts[at]);
            let missing = &self.sufficiency.missing[at];
            let lacks =
                if missing.is_empty() { String::new() } else { format!(": {}", missing.join(" ")) };
            writeln!(
                out,
                "{:>11.3} {frequency:>9} {:>8.3} {:>11.3} {:>10.3} {:>10.3} {:>8.3} {:>8.2}  {:<10}  {}{}",
                parts.sufficiency(),
                parts.coverage,
                parts.consistency,
                parts.redundancy,
                parts.saturation,
                parts.domain_coverage,
                self.frontier[at],
                self.classes[at].name(),
                output::shown(text, QUERY_WIDTH),
                output::shown(&lacks, QUERY_WIDTH),
            )?;
            if let Some(Opinion { sufficiency, best_link }) = self.opinions.get(&at) {
                let link = best_link.as_ref().map_or_else(String::new, |(url, score)| {
                    format!(", best link {score:.3} {}", output::shown(url, URL_WIDTH))
                });
                writeln!(out, "{sufficiency:>11.3} says the language model{link}")?;
            }
        }
        let left = places.len() - shown.len();
        if left > 0 {
            writeln!(
                out,
                "and {} more; --show N lists more of them, --json all",
                queries_of(left)
            )?;
        }
        writeln!(
            out,
            "(frontier: results that URLs not fetched yet may still bring, of {K} places)"
        )
    }

    fn print_history(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.history.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "\n{:<16}  {:>8}  {:>5}  {:>11}  {:>8}  {:>11}  {:>10}  {:>10}",
            "when planned",
            "pages",
            "epoch",
            "sufficiency",
            "coverage",
            "consistency",
            "redundancy",
            "saturation"
        )?;
        for past in &self.history {
            let parts = &past.whole.parts;
            let saturation = past.workload_saturation;
            writeln!(
                out,
                "{:<16}  {:>8}  {:>5}  {:>11.3}  {:>8.3}  {:>11.3}  {:>10.3}  {:>10}",
                past.plan_id,
                past.pages,
                past.epoch,
                past.whole.sufficiency,
                parts.coverage,
                parts.consistency,
                parts.redundancy,
                saturation.map_or("-".to_owned(), |found| format!("{:.3}", found.mean))
            )?;
        }
        writeln!(out, "(where an epoch ends, words count otherwise, and everything may move)")
    }
}

fn queries_of(count: usize) -> String {
    if count == 1 { "1 query".to_owned() } else { format!("{} queries", thousands(count as u64)) }
}

/// Sufficiency and what share of the askings have enough.
pub(super) fn whole_line(whole: &WorkloadSufficiency, theta: f64) -> String {
    format!(
        "sufficiency {:.3}, {theta} is enough; {:.1} % of the askings have that",
        whole.sufficiency,
        100.0 * whole.sufficient_share
    )
}

/// How far the impact of new pages has fallen.
fn saturation_line(saturation: Option<Saturation>) -> String {
    match saturation {
        Some(Saturation { mean, low, high }) => format!(
            "saturation {mean:.3} ({low:.3} to {high:.3}): the share by which impact that enters lists by page has fallen \
             since the first pages; saturated when the lower end is {SATURATED}"
        ),
        None => "saturation is not known before two windows of at least 100 pages".to_owned(),
    }
}

/// The verdict with the figures that it rests on.
pub(super) fn verdict_line(signals: &Signals, verdict: &Verdict) -> String {
    let told = |reasons: &[StopReason]| {
        let told: Vec<String> = reasons.iter().map(|reason| why(*reason, signals)).collect();
        told.join("; ")
    };
    let (action, why) = if verdict.stop {
        ("stop", told(&verdict.reasons))
    } else {
        ("go on", format!("{}; {}", churn_line(signals.churn), gain_line(signals.gain)))
    };
    if verdict.signs.is_empty() {
        return format!("{action}; {why}");
    }
    format!("{action}; {why} (signs that stop nothing by themselves: {})", told(&verdict.signs))
}

fn why(reason: StopReason, signals: &Signals) -> String {
    match reason {
        StopReason::Exhausted => "exhausted: nothing is left to plan".to_owned(),
        StopReason::Sufficient => {
            format!("sufficient: {:.3} is at least {}", signals.sufficiency, signals.theta)
        }
        StopReason::Settled => format!("settled: {}", churn_line(signals.churn)),
        StopReason::NoGain => format!("no gain: {}", gain_line(signals.gain)),
        StopReason::Saturated => {
            let low = signals.saturation.map_or(0.0, |found| found.low);
            format!("saturated: {low:.3} at least, {SATURATED} is enough")
        }
    }
}

fn churn_line(churn: Option<f64>) -> String {
    churn.map_or(
        "how many results may still change is not known before three windows".to_owned(),
        |share| format!("{:.1} % of the served results may still change", 100.0 * share),
    )
}

fn gain_line(gain: Option<Gain>) -> String {
    match gain {
        None => "what a batch brings is not foreseen yet".to_owned(),
        Some(Gain { per_page, floor: None }) => format!("{per_page:.3} impact a page expected"),
        Some(Gain { per_page, floor: Some(floor) }) => {
            format!("{per_page:.3} impact a page expected, too little under {floor:.3}")
        }
    }
}

fn meaning(class: QueryClass, theta: f64) -> String {
    match class {
        QueryClass::Sufficient => format!("at least {theta}"),
        QueryClass::Growing => "results are still entering their lists".to_owned(),
        QueryClass::Saturated => format!("entries have fallen by {SATURATED} or more"),
        QueryClass::Hopeless => "nothing in the frontier has a chance: seed these".to_owned(),
    }
}

/// Wordings of the queries of a workload by a file, or by leaving out words, a fifth of them held out.
fn variants(
    given: &Path,
    workload: &Workload,
    merged: &Workload,
    model: Option<&mut AskedModel>,
) -> Result<Vec<Variants>, Failure> {
    let wordings = if given == Path::new("words") {
        Variants::without_a_word(merged)
    } else if given == Path::new("llm") {
        let Some(model) = model else {
            let error = anyhow::anyhow!("no language model is named");
            return Err(Failure::input(
                error,
                "--variants llm goes with --llm-url and --llm-model",
            ));
        };
        let mut places: Vec<usize> = (0..merged.queries.len()).collect();
        let asked = |at: &usize| merged.queries[*at].frequency;
        places.sort_by(|a, b| asked(b).total_cmp(&asked(a)).then(a.cmp(b)));
        model.wordings(merged, &places)
    } else {
        workload::wordings(given, workload, merged)?
    };
    let drawn = Variants::draw(merged, &wordings);
    if drawn.is_empty() {
        let error = anyhow::anyhow!("{}: no query has two variants", given.display());
        let hint = "a variant is a line `qid<TAB>wording` with other words than the query; of `words`, a query has as many \
                    as it has words, if those are three or more";
        return Err(Failure::input(error, hint));
    }
    Ok(drawn)
}

fn validation_line(found: &Validation) -> String {
    let Validation { queries, planned, held_out, difference: (mean, low, high), .. } = found;
    let verdict = match found.verdict {
        ValidationVerdict::Validated => "validated",
        ValidationVerdict::NotValidated => {
            "not validated: it may be much lower for wordings that nobody planned for"
        }
        ValidationVerdict::Irrelevant => "irrelevant: the pages are off the queries' topics",
    };
    format!(
        "{verdict}; {held_out} held-out variants of {} have a sufficiency of {:.3}, the {planned} that are planned for \
         {:.3}, a difference of {mean:+.3} ({low:+.3} to {high:+.3}); coverage {:.3}",
        queries_of(*queries),
        found.held_out_sufficiency,
        found.planned_sufficiency,
        found.coverage
    )
}

fn write_workload(path: &Path, workload: &Workload) -> Result<(), Failure> {
    let mut text = String::new();
    for Query { qid, text: query, frequency, kind, .. } in &workload.queries {
        let line = json!({ "qid": qid, "query": query, "frequency": frequency, "kind": kind });
        text += &format!("{line}\n");
    }
    output::write_file(path, |out| out.write_all(text.as_bytes()))
        .map_err(|error| output::not_written(path, error))
}

/// Writes what the store knows.
fn export(open: &OpenStore, path: &Path, global: &Global) -> Result<(), Failure> {
    let failed = |error| output::not_written(path, error);
    let mut out = io::BufWriter::new(std::fs::File::create(path).map_err(failed)?);
    let exported = knowledge::export(open, |record| {
        serde_json::to_writer(&mut out, record)?;
        out.write_all(b"\n")
    })?;
    let Exported { pages, failed: failures, unnamed } = exported.map_err(failed)?;
    out.flush().map_err(failed)?;
    let mut line = format!(
        "{}: {} and {} that gave none",
        path.display(),
        counted(pages as u64, "page"),
        counted(failures as u64, "URL")
    );
    if unnamed > 0 {
        line +=
            &format!("; {} that no page links to are not in it", counted(unnamed as u64, "URL"));
    }
    say(global, &line);
    Ok(())
}

/// Leaves a file where the verdict is to stop, and none where it is not.
fn write_stop(path: &Path, verdict: &Verdict) -> Result<(), Failure> {
    let done = if verdict.stop {
        output::write_file(path, |out| {
            serde_json::to_writer(&mut *out, verdict)?;
            out.write_all(b"\n")
        })
    } else {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    };
    done.map_err(|error| output::not_written(path, error))
}

fn show_compatible(
    found: &StoreSufficiency,
    answers: &[CompatibleQuery],
    drawn: bool,
    global: &Global,
) -> Result<(), Failure> {
    let queries = found.queries();
    let askings: f64 = queries.iter().map(|query| query.frequency).sum();
    let weighted = queries.iter().zip(answers).map(|(q, a)| q.frequency * a.confidence.whole);
    let mean = if askings > 0.0 { weighted.sum::<f64>() / askings } else { 0.0 };
    if global.json {
        let each = queries.iter().zip(answers).map(|(query, answer)| {
            json!({
                "qid": query.qid,
                "query": query.text,
                "frequency": query.frequency,
                "confidence": answer.confidence,
                "best_link": answer.best_link,
            })
        });
        return output::print_json(&json!({
            "schema": "prospect.sufficiency/1",
            "definition": "compatible",
            "pages": found.pages,
            "pairs_are_drawn": drawn,
            "confidence": mean,
            "queries": each.collect::<Vec<_>>(),
        }));
    }
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "confidence {mean:.6} of {} over {}",
        queries_of(queries.len()),
        counted(found.pages as u64, "page")
    )?;
    for (query, answer) in queries.iter().zip(answers) {
        let Confidence { coverage, consistency, saturation, whole } = answer.confidence;
        writeln!(
            out,
            "{whole:.6}  coverage {coverage:.6}, consistency {consistency:.6}, saturation {saturation:.6}  {}",
            output::shown(&query.text, QUERY_WIDTH)
        )?;
        if let Some(BestLink { url, score }) = &answer.best_link {
            writeln!(out, "          next link {score:.3}  {url}")?;
        }
    }
    if drawn {
        say(global, "consistency is of 20,000 pairs of pages that were drawn, not of all");
    }
    Ok(())
}
