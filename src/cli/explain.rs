//! `prospect explain`: why a URL is planned or not.

use std::io::Write;
use std::path::PathBuf;

use prospect_index::limits;
use prospect_index::page::UrlId;
use prospect_index::url;

use super::Global;
use super::model::{EmbeddingOptions, LibraryOptions, embed_for};
use super::output::{self, Failure, shown};
use crate::cycle::planner::{self, Plan};
use crate::cycle::reasons::{Reasons, fetch_state};
use crate::cycle::{CycleError, OpenStore, records};
use crate::estimate::blend::{self, Blend, PART_NAMES, PARTS};
use crate::estimate::frontier::UrlEstimate;
use crate::estimate::objective::Objective;
use crate::plan::export::{AROUND_LINKS, QueryReason, Similarity};
use crate::plan::position;
use crate::plan::settings::PlanSettings;

/// Queries shown.
const QUERIES_SHOWN: usize = 10;

/// Arguments of `prospect explain`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// The URL.
    url: String,
    #[command(flatten)]
    embedding: EmbeddingOptions,
    #[command(flatten)]
    library: LibraryOptions,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let address = url::canonical(&args.url).map_err(|error| {
        let error = anyhow::anyhow!("{:?} is {error}", args.url);
        Failure::input(error, "give an absolute http or https URL")
    })?;
    let embedder = args.embedding.load(&args.library, global)?;
    let mut open = OpenStore::open(&args.store, "prospect explain", limits::NGRAM_WORDS)?;
    let Some(id) = open.known.urls.get(&address) else {
        let error = anyhow::anyhow!("the store does not know {address}: no page links to it");
        return Err(Failure::input(
            error,
            "a URL becomes known when a page that links to it is ingested",
        ));
    };
    let stored = open.store.manifest().plan.clone().ok_or(CycleError::NoPlan)?;
    let settings: PlanSettings = planner::settings(&stored)?;
    let workload = records::workload(&open.store, &stored.id).map_err(CycleError::Store)?;
    embed_for(&mut open, embedder, &settings, &workload.for_planning(), global)?;
    // The ranking of all that is known, whatever list the plan was held to.
    let plan = planner::plan(&open, &workload, &[], &settings)?;
    let picks = records::picks(&open.store, &stored.id).map_err(CycleError::Store)?;
    let planned = picks.iter().position(|pick| pick.url == id).map(|at| at + 1);
    let view = View { id, address: &address, plan_id: &stored.id, planned };
    if global.json {
        let json = view.json(&open, &plan, &settings)?;
        return output::print_json(&json);
    }
    let text = view.text(&open, &plan, &settings)?;
    Ok(std::io::stdout().lock().write_all(text.as_bytes())?)
}

struct View<'a> {
    id: UrlId,
    address: &'a str,
    plan_id: &'a str,
    planned: Option<usize>,
}

impl View<'_> {
    fn json(
        &self,
        open: &OpenStore,
        plan: &Plan,
        settings: &PlanSettings,
    ) -> Result<serde_json::Value, Failure> {
        let at = position(&plan.choice.batch.ranking, self.id);
        let estimate = at.map(|at| plan.choice.batch.ranking[at]);
        let held_back =
            plan.choice.batch.held_back.iter().find(|(rank, _)| Some(*rank as usize) == at);
        let vectors = open.plan_vectors(settings.embedding.as_ref(), &plan.workload.queries)?;
        let reasons = Reasons::of_plan(&open.known, plan, settings)
            .with_around(open.around()?)
            .with_vectors(vectors.as_ref());
        Ok(serde_json::json!({
            "schema": "prospect.explain/1",
            "url": open.known.urls.spelling(self.id),
            "state": fetch_state(&open.known, self.id),
            "plan_id": self.plan_id,
            "planned_rank": self.planned,
            "frontier_rank": at.map(|at| at + 1),
            "frontier": plan.choice.batch.ranking.len(),
            "estimate": estimate.map(|e| e.estimate),
            "query_impact": estimate.map(|e| e.parts[blend::QUERY]),
            "locality_impact": estimate.map(|e| e.parts[blend::LOCALITY]),
            "page_impact": estimate.map(|e| e.parts[blend::PAGE]),
            "importance_impact": estimate.map(|e| e.parts[blend::IMPORTANCE]),
            "quality_impact": estimate.map(|e| e.parts[blend::QUALITY]),
            "quality": estimate.and_then(|e| e.quality),
            "query_weight": plan.choice.weighed.blend.weights[blend::QUERY],
            "locality_weight": plan.choice.weighed.blend.weights[blend::LOCALITY],
            "page_weight": plan.choice.weighed.blend.weights[blend::PAGE],
            "importance_weight": plan.choice.weighed.blend.weights[blend::IMPORTANCE],
            "quality_weight": plan.choice.weighed.blend.weights[blend::QUALITY],
            "trust": estimate.map(|e| e.trust),
            "waits": estimate.map(|e| e.waits),
            "objective": settings.estimate.objective,
            "blend_outcomes": plan.choice.weighed.blend.outcomes,
            "inlinks": open.known.links.inlinks(self.id, u32::MAX),
            "held_back_by": held_back.map(|(_, cap)| *cap),
            "queries": reasons.of(self.id, QUERIES_SHOWN),
        }))
    }

    fn text(
        &self,
        open: &OpenStore,
        plan: &Plan,
        settings: &PlanSettings,
    ) -> Result<String, Failure> {
        let mut text = format!("{}\n  {}", self.address, fetch_state(&open.known, self.id));
        match self.planned {
            Some(rank) => text += &format!("; number {rank} of plan {}\n", self.plan_id),
            None => text += &format!("; not in plan {}\n", self.plan_id),
        }
        let Some(at) = position(&plan.choice.batch.ranking, self.id) else {
            text += "  it is not in the frontier, so it has no estimate\n";
            return Ok(text);
        };
        let estimate = plan.choice.batch.ranking[at];
        let frontier = plan.choice.batch.ranking.len();
        text += &format!("  rank {} of {frontier} in the frontier by estimate\n", at + 1);
        text += &parts_text(&estimate, &plan.choice.weighed.blend, settings.estimate.objective);
        if let Some((_, cap)) =
            plan.choice.batch.held_back.iter().find(|(rank, _)| *rank as usize == at)
        {
            text += &format!("  held back by {}\n", cap.option());
        } else if self.planned.is_none() && at >= settings.selection.budget {
            let budget = settings.selection.budget;
            text += &format!("  its rank is below the budget of {budget}\n");
        }
        let vectors = open.plan_vectors(settings.embedding.as_ref(), &plan.workload.queries)?;
        let reasons = Reasons::of_plan(&open.known, plan, settings)
            .with_around(open.around()?)
            .with_vectors(vectors.as_ref());
        let reasons = reasons.of(self.id, QUERIES_SHOWN);
        if reasons.is_empty() {
            text += "  no query shares enough words with its URL or its anchors, and none's best pages link to it\n";
        }
        for reason in &reasons {
            text += &reason_text(reason);
        }
        Ok(text)
    }
}

/// The estimate as the sum of its parts.
fn parts_text(estimate: &UrlEstimate, blend: &Blend, objective: Objective) -> String {
    let quality = match estimate.quality {
        Some(quality) => format!("expected quality {quality:.2}"),
        None => "no quality known".to_owned(),
    };
    let mut text = format!("  estimate {:.4} in impact units:\n", estimate.estimate);
    let mut evidence: [String; PARTS] = Default::default();
    evidence[blend::IMPORTANCE] = format!("{} in-links", estimate.inlinks);
    evidence[blend::QUALITY] = quality;
    for at in 0..PARTS {
        let (weight, part) = (blend.weights[at], estimate.parts[at]);
        let evidence = match evidence[at].as_str() {
            "" => String::new(),
            evidence => format!("  ({evidence})"),
        };
        text += &format!(
            "    {:>9.4} = {weight:.4} * {part:.4} {}{evidence}\n",
            weight * part,
            PART_NAMES[at],
        );
    }
    if estimate.trust < 1.0 {
        text += &format!(
            "    times {:.2}: past picks of its site kept less of what they promised\n",
            estimate.trust
        );
    }
    let sum = estimate.trust * blend.of(estimate.parts);
    if estimate.waits {
        text += "    waits behind the URLs of others: little was fetched from its domain, which has better ones\n";
    }
    let why = match objective {
        Objective::Served => "what the rest of the batch leaves of it",
        _ => "what of it is likely",
    };
    if !estimate.waits && (estimate.estimate - sum).abs() > 1e-9 * sum {
        text += &format!(
            "    {:>9.4} by the objective {}: {why}\n",
            estimate.estimate,
            objective.name()
        );
    }
    text
}

fn reason_text(reason: &QueryReason) -> String {
    let mut text = format!(
        "  {:>7.1}%  {} (frequency {}; expected score {:.2}, to beat {:.2})\n",
        100.0 * reason.chance,
        shown(&reason.query, 60),
        reason.frequency,
        reason.expected_score,
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
    if let Some(Similarity { url, anchor, title }) = reason.similarity {
        text += &format!(
            "            in meaning: URL {url:.2}, nearest anchor {anchor:.2}, title of a page that links \
             to it {title:.2}\n"
        );
    }
    text
}
