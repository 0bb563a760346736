//! `prospect explain`: why a URL is planned or not, and why a query is planned for.

use std::io::Write;
use std::path::PathBuf;

use prospect_index::page::UrlId;
use prospect_index::seeds::{Seed, for_each_seed};
use prospect_index::url;

use super::model::{EmbeddingOptions, LibraryOptions, embed_for};
use super::output::{self, Failure, shown};
use super::plain::stdout;
use super::{Global, bounds, open};
use crate::campaign::explanation::{
    Explained, Explanation, Factor, LinkFrom, MadeOf, NamedBy, RevisitCandidate,
};
use crate::campaign::open_plans::OpenBatch;
use crate::campaign::plan::{self, Beside};
use crate::campaign::planned::LearnedImprovability;
use crate::campaign::query_explanation::{Candidate, QueryExplanation, SketchEntry};
use crate::campaign::reasons::Reasons;
use crate::campaign::whatif_base::open_plan;
use crate::campaign::{CampaignError, OpenStore, records};
use crate::plan::explore::Pool;
use crate::plan::export::{AROUND_LINKS, CosineEvidence, QueryReason};
use crate::plan::is_drawn;
use crate::planner::cycle::PlannedPick;
use crate::planner::settings::PlanSettings;
use crate::planner::spellings::UnderWay;
use crate::report::number::{times, with_noun};
use crate::sketch::need::{ImprovabilityFit, Needy};
use crate::workload::{Query, Workload};

/// Queries and links shown.
const SHOWN: usize = 10;

/// Arguments of `prospect explain`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// The URL.
    #[arg(required_unless_present = "query", conflicts_with = "query")]
    url: Option<String>,
    /// Explain a query of the plan instead, by its id or its text.
    #[arg(long, value_name = "QID")]
    query: Option<String>,
    #[command(flatten)]
    embedding: EmbeddingOptions,
    #[command(flatten)]
    library: LibraryOptions,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let Some(given) = &args.url else { return explain_query(args, global) };
    let address = url::canonical(given).map_err(|error| {
        let error = anyhow::anyhow!("{given:?} is {error}");
        Failure::input(error, "give an absolute http or https URL")
    })?;
    let embedder = args.embedding.load(&args.library, global)?;
    let mut open = open::to_ask(&args.store, "prospect explain", global)?;
    let Some(id) = open.known.urls.get(&address) else {
        let error = anyhow::anyhow!("the store does not know {address}: no page links to it");
        return Err(Failure::input(
            error,
            "a URL becomes known when a page that links to it is ingested, or by `prospect seeds`",
        ));
    };
    let explanation = if open.store.manifest().plans.last().is_some() {
        let (settings, workload, _) = open_plan(&open)?;
        let asked = open.asked(&workload);
        embed_for(&mut open, embedder, &settings, &asked, global)?;
        explanation(&open, id, &settings, &workload)?
    } else {
        let next = open.plannable(Vec::new(), &open.scope()?, 0)?;
        let known = Explanation::without_plan(&open.known, &next.retries, id);
        Explanation { named_by: named_by(&open, id)?, ..known }
    };
    if global.json {
        return output::print_json(&serde_json::to_value(&explanation)?);
    }
    Ok(stdout().write_all(text(&explanation).as_bytes())?)
}

fn explain_query(args: &Args, global: &Global) -> Result<(), Failure> {
    let asked = args.query.as_deref().unwrap_or_default();
    let embedder = args.embedding.load(&args.library, global)?;
    let mut open = open::to_ask(&args.store, "prospect explain", global)?;
    let (mut settings, workload, within) = open_plan(&open)?;
    bounds::say_lost_list(&settings, &within, global);
    let planned = open.asked(&workload);
    embed_for(&mut open, embedder, &settings, &planned, global)?;
    // Whom the plan left out has a sketch, too, and improvability is learned.
    let wanted = settings.needy.replace(Needy::Share(1.0));
    let plan = plan::plan(&open, &workload, &within, &settings, Beside::Older)?;
    let queries = &plan.workload.queries;
    let by_id = queries.iter().position(|query| query.qid == asked);
    let by_text = || queries.iter().position(|query| query.text == asked);
    // Spelled as another line of the log, it is merged with those of the same words.
    let words = Query::new("", asked, 1.0, "").into_words_of(&open.known.analyzer).words;
    let by_words = || queries.iter().position(|query| !words.is_empty() && query.words == words);
    let at = by_id.or_else(by_text).or_else(by_words);
    let Some(at) = at else {
        let error = anyhow::anyhow!("the open plan has no query {asked:?}");
        return Err(Failure::input(
            error,
            "name one by its id or its words; queries with the same words go by the first id",
        ));
    };
    let plan_id = open.store.manifest().plans.last().map(|plan| plan.id.as_str());
    let picks =
        records::picks(&open.store, plan_id.unwrap_or_default()).map_err(CampaignError::from)?;
    let explanation = QueryExplanation::new(&plan, &open.known, &picks, wanted, at);
    if global.json {
        return output::print_json(&serde_json::to_value(&explanation)?);
    }
    Ok(stdout().write_all(query_text(&explanation).as_bytes())?)
}

fn query_text(explanation: &QueryExplanation) -> String {
    let QueryExplanation { qid, query, frequency, k, served, .. } = explanation;
    let mut text = format!("{qid}  {}\n  asked {}\n", shown(query, 80), times(*frequency));
    text += &format!(
        "  served: {} of {k} places, mean score {:.2}, to beat {:.2}\n",
        served.len(),
        at_least_0(explanation.mean_score),
        explanation.kth_score,
    );
    for result in served {
        text += &format!("    {:>8.2}  {}\n", result.score, shown(&result.url, 90));
    }
    text += &format!("  improvability {}", number(explanation.improvability));
    text += &match &explanation.improvability_fit {
        None => ": the same for all, nothing is learned yet\n".to_owned(),
        Some(LearnedImprovability { fit, rank_correlation, outcomes }) => {
            let ImprovabilityFit { a, b, r_squared } = fit;
            let rank = rank_correlation.map_or("–".to_owned(), |rank| format!("{rank:.2}"));
            format!(
                " new results in a cycle = exp({a:.3} + {b:.4} * mean score), at most the places of a list, \
                 fitted on {outcomes} outcomes of queries (R² {r_squared:.2} over buckets, rank correlation {rank})\n"
            )
        }
    };
    let QueryExplanation { neediness, need_rank, queries, is_needy, .. } = explanation;
    let planned = if *is_needy { "planned for" } else { "not planned for: too many are needier" };
    text += &format!(
        "  neediness {} = frequency * improvability: rank {need_rank} of {queries}, {planned}\n",
        number(*neediness)
    );
    if !explanation.sketch.is_empty() {
        text += &format!(
            "  sketch, the {k} best of crawled pages and candidates, which count as the mean of their kind:\n"
        );
    }
    for entry in &explanation.sketch {
        text += &entry_text(entry);
    }
    text += &match explanation.candidates {
        0 => "  no candidate in the frontier\n".to_owned(),
        count => format!(
            "  {} in the frontier; most likely to be in the list for good:\n",
            with_noun(count, "candidate")
        ),
    };
    for entry in &explanation.best_candidates {
        text += &entry_text(entry);
    }
    text
}

/// A page of a sketch, in a line.
fn entry_text(entry: &SketchEntry) -> String {
    let what = match &entry.candidate {
        None => "crawled".to_owned(),
        Some(Candidate { interval, chance, planned_rank, plannable }) => {
            let interval =
                interval.map_or(String::new(), |(low, high)| format!("{low:.2} to {high:.2}, "));
            let planned = match planned_rank {
                Some(rank) => format!(", number {rank} of the plan"),
                None if *plannable => String::new(),
                None => ", not planned now".to_owned(),
            };
            format!("{interval}{:.1}%{planned}", 100.0 * chance)
        }
    };
    format!("    {:>8.2}  {}  ({what})\n", entry.score, shown(&entry.url, 90))
}

/// Explains a URL by the ranking of all that is known, whatever list the open plan was held to.
fn explanation(
    open: &OpenStore,
    id: UrlId,
    settings: &PlanSettings,
    workload: &Workload,
) -> Result<Explanation, CampaignError> {
    let plan = plan::plan(open, workload, &[], settings, Beside::Older)?;
    let vectors = open.plan_vectors(settings.embedding.as_ref(), &plan.workload.queries)?;
    let reasons = Reasons::of_plan(&open.known, &plan, settings)
        .with_link_context(open.link_context()?)
        .with_vectors(vectors.as_ref());
    let explained = Explained {
        reasons,
        choice: &plan.choice,
        settings,
        factors: &[],
        retries: &plan.plannable.retries,
    };
    let batches = OpenBatch::all(&open.store, &open.known)?;
    let place = |batch: &OpenBatch| batch.picks.iter().position(|pick| pick.url == id);
    // The newest plan that lists it; if none does, the newest.
    let listing = batches.iter().rev().find(|batch| place(batch).is_some());
    let batch = listing.or(batches.last());
    let plan_id = batch.map(|batch| batch.plan.id.clone());
    let planned_rank = batch.and_then(place).map(|at| at + 1);
    let pick = batch.zip(planned_rank).map(|(batch, rank)| &batch.picks[rank - 1]);
    let in_flight = listing.is_some_and(|batch| batch.in_flight().any(|url| url == id));
    let named_by = named_by(open, id)?;
    let under_way = UnderWay::new(&plan.plannable.in_flight, &plan.plannable.retries);
    let other = settings.scope.stand_in(&open.known, id, &under_way)?.filter(|_| !in_flight);
    let same_page_as = other.map(|other| open.known.urls.url(other).to_owned());
    let explained = explained.explain(id);
    // As the open plan has it, which may have been made under a scenario.
    let drawn = |pick: &PlannedPick| is_drawn(pick.pool, pick.propensity);
    let (pool, is_drawn) = match batch {
        Some(_) => (pick.map(|pick| pick.pool), pick.is_some_and(drawn)),
        None => (explained.pool, explained.is_drawn),
    };
    let explained = Explanation { pool, is_drawn, ..explained };
    Ok(Explanation { plan_id, planned_rank, in_flight, same_page_as, named_by, ..explained })
}

/// What is said of a URL by those who name it without a link.
fn named_by(open: &OpenStore, id: UrlId) -> Result<Vec<NamedBy>, CampaignError> {
    let mut by: Vec<NamedBy> = Vec::new();
    for_each_seed(open.store.storage(), open.store.manifest(), |url, seed| {
        if url == id {
            let Seed { source, lastmod, priority } = seed;
            by.retain(|known| known.source != source);
            by.push(NamedBy { source, lastmod, priority: Some(priority).filter(|p| !p.is_nan()) });
        }
    })?;
    Ok(by)
}

fn text(explanation: &Explanation) -> String {
    let Explanation { plan_id, planned_rank, frontier, budget, .. } = explanation;
    let mut text = format!("{}\n  {}", explanation.url, explanation.state);
    let Some(plan) = plan_id else {
        text += "; no plan is open, so it has no estimate\n";
        known_from(&mut text, explanation);
        return text;
    };
    text += &match planned_rank {
        Some(rank) => format!("; number {rank} of plan {plan}"),
        None => format!("; not in plan {plan}"),
    };
    text += match explanation.pool {
        _ if explanation.is_drawn => ", drawn at random",
        Some(Pool::Revisit) => ", to fetch it again",
        _ => "",
    };
    text += if planned_rank.is_some() && explanation.in_flight { ", in flight\n" } else { "\n" };
    if let Some(other) = &explanation.same_page_as {
        text += &format!("  another spelling of {other}, by the rules of the store: not planned\n");
    }
    if let Some(RevisitCandidate { rank, of, chance, impact, value, estimate }) =
        explanation.revisit
    {
        text += &format!(
            "  to fetch it again: rank {rank} of {of}; its text has changed with a chance of {:.1}%, it has an impact of \
             {impact:.1} in the lists, and brings {value:.2} until the next plan, as a new URL of estimate {estimate:.2} is expected to\n",
            100.0 * chance
        );
        return text;
    }
    let (Some(rank), Some(estimate)) = (explanation.frontier_rank, &explanation.estimate) else {
        if explanation.in_flight {
            return text + "  it is left to that plan\n";
        }
        return text + "  it is not among the URLs to choose from, so it has no estimate\n";
    };
    text += &format!("  rank {rank} of {frontier} in the frontier by estimate\n");
    if let Some(cap) = explanation.held_back_by {
        text += &format!("  held back by --{cap}\n");
    } else if planned_rank.is_none() && rank > *budget {
        text += &format!("  its rank is below the budget of {budget}\n");
    }
    factor_text(&mut text, estimate, 1);
    if explanation.queries.is_empty() {
        text += "  no query shares enough words with its URL or its anchors, and none's best pages link to it\n";
    }
    for reason in explanation.queries.iter().take(SHOWN) {
        text += &reason_text(reason);
    }
    if explanation.queries.len() > SHOWN {
        text += "           …  and of others, of which --json tells some more\n";
    }
    known_from(&mut text, explanation);
    text
}

/// Who links to the URL, and who names it.
fn known_from(text: &mut String, explanation: &Explanation) {
    for LinkFrom { from, anchor } in explanation.links.iter().take(SHOWN) {
        *text += &format!("  linked from {from}: \"{}\"\n", shown(anchor, 60));
    }
    if explanation.links.len() > SHOWN {
        *text += &format!("  … {} pages link to it in all\n", explanation.inlinks);
    }
    for NamedBy { source, lastmod, priority } in &explanation.named_by {
        let changed =
            if lastmod.is_empty() { String::new() } else { format!(", changed {lastmod}") };
        let priority = priority.map_or(String::new(), |priority| format!(", priority {priority}"));
        *text += &format!("  named by a {source}{changed}{priority}\n");
    }
}

/// A number and what it is made of, one line each; what is simply given stands in the line of its sum or
/// product.
fn factor_text(text: &mut String, factor: &Factor, depth: usize) {
    let (terms, word, sign) = match &factor.made_of {
        Some(MadeOf::Sum(terms)) => (terms.as_slice(), "sum", " + "),
        Some(MadeOf::Product(terms)) => (terms.as_slice(), "product", " * "),
        None => (&[][..], "", ""),
    };
    let is_plain = terms.iter().all(|term| term.made_of.is_none() && term.note.is_none());
    let note = factor.note.as_ref().map_or(String::new(), |note| format!("  ({note})"));
    let made = if terms.is_empty() {
        note
    } else if is_plain {
        let terms = terms.iter().map(|term| format!("{} {}", number(term.value), term.name));
        format!(" = {}{note}", terms.collect::<Vec<_>>().join(sign))
    } else {
        format!("{note}, the {word} of")
    };
    let (indent, value) = ("  ".repeat(depth), number(factor.value));
    *text += &format!("{indent}{value:>9} {}{made}\n", factor.name);
    for term in terms.iter().filter(|_| !is_plain) {
        factor_text(text, term, depth + 1);
    }
}

/// A score for people: a regression may expect a little less than there can be, and sums of nothing have a sign.
fn at_least_0(score: f64) -> f64 {
    if score > 0.0 { score } else { 0.0 }
}

/// Four decimals, or as many digits where these would show nothing.
fn number(value: f64) -> String {
    if value == 0.0 || value.abs() >= 0.001 {
        format!("{value:.4}")
    } else {
        format!("{value:.3e}")
    }
}

fn reason_text(reason: &QueryReason) -> String {
    let mut text = format!(
        "  {:>7.1}%  {} (frequency {}; expected score {:.2}, to beat {:.2})\n",
        100.0 * reason.chance,
        shown(&reason.query, 60),
        reason.frequency,
        at_least_0(reason.expected_score),
        reason.kth_score,
    );
    if reason.matched.iter().all(|evidence| evidence.place == AROUND_LINKS) {
        text += match reason.similarity {
            Some(_) => {
                "            linked from pages that answer it best, or near to it in meaning\n"
            }
            None => "            linked from pages that answer it best\n",
        };
    }
    for evidence in &reason.matched {
        let place = match evidence.place {
            "url" => "in the URL".to_owned(),
            AROUND_LINKS => AROUND_LINKS.to_owned(),
            _ => format!("in the anchor \"{}\"", shown(&evidence.text, 60)),
        };
        text += &format!("            {}: {}\n", place, shown(&evidence.ngrams.join(", "), 60));
    }
    if let Some(CosineEvidence { url, anchor, title }) = reason.similarity {
        text += &format!(
            "            in meaning: URL {url:.2}, nearest anchor {anchor:.2}, title of a page that links \
             to it {title:.2}\n"
        );
    }
    text
}
