//! The rows. A new option is one row here, its use, and its test; every surface finds it.

use prospect_index::limits;

use super::field::{Field, MOST};
use super::{Invalidates, PlannerOption};
use crate::estimate::objective::Objective;
use crate::estimate::parts::Part;
use crate::estimate::settings::{ImpactReading, Importance};
use crate::plan::polite_time::QueueBy;
use crate::planner::settings::Demand;

use Invalidates::{Lists, Models, Pairs, Selection, Weights};

/// Most URLs: as many as there are ids.
const MOST_URLS: usize = u32::MAX as usize;
/// Longest result lists.
const MOST_RESULTS: usize = 1000;

/// All options, in the order in which they are listed.
pub(super) fn all() -> Vec<PlannerOption> {
    let weights = Part::ALL.into_iter().map(weight).collect();
    [batch(), weights, estimates(), matching(), lists()].into_iter().flatten().collect()
}

/// What a batch may hold.
fn batch() -> Vec<PlannerOption> {
    vec![
        PlannerOption::new("budget", "URLs to plan at most", Selection, |to| {
            Field::Whole(&mut to.selection.budget, 1, MOST_URLS)
        })
        .of_the_crawl()
        .required(),
        PlannerOption::new("per-host", "URLs of one host at most", Selection, |to| {
            Field::Cap(&mut to.selection.caps.per_host, MOST_URLS)
        }),
        PlannerOption::new(
            "per-domain",
            "URLs of one registrable domain at most",
            Selection,
            |to| Field::Cap(&mut to.selection.caps.per_domain, MOST_URLS),
        ),
        PlannerOption::new("per-site", "URLs of one site at most", Selection, |to| {
            Field::Cap(&mut to.selection.caps.per_site, MOST_URLS)
        }),
        PlannerOption::new(
            "site-share",
            "share of one site at most, where the frontier has 20 sites",
            Selection,
            |to| Field::ShareCap(&mut to.selection.caps.site_share),
        ),
        PlannerOption::new(
            "seconds",
            "time of a polite crawler for the batch, in the place of a budget or beside it",
            Selection,
            |to| Field::TimeCap(&mut to.selection.caps.time.seconds),
        ),
        PlannerOption::new("delay", "seconds between two requests to a queue", Selection, |to| {
            Field::Number(&mut to.selection.caps.time.delay, 0.0, MOST)
        }),
        PlannerOption::new("queue-by", "what the crawler keeps a queue for", Selection, |to| {
            let names = QueueBy::ALL.map(|by| (by.name(), by));
            Field::one_of(&mut to.selection.caps.time.queue_by, names)
        }),
        PlannerOption::new(
            "connections",
            "requests that a queue has under way at once",
            Selection,
            |to| Field::Whole(&mut to.selection.caps.time.connections, 1, 1_000),
        ),
        PlannerOption::new("explore", "share of the budget drawn at random", Selection, |to| {
            Field::Number(&mut to.selection.explore, 0.0, 1.0)
        }),
        PlannerOption::new(
            "revisit",
            "share of the budget for pages that were fetched before",
            Selection,
            |to| Field::Revisit(&mut to.selection.revisit),
        )
        .of_the_crawl(),
        PlannerOption::new("seed", "seed of the draw", Selection, |to| {
            Field::Seed(&mut to.selection.seed)
        })
        .of_the_crawl(),
        PlannerOption::new(
            "demand",
            "what a query counts: how often it is asked, or that times what it lacks",
            Lists,
            |to| {
                let names = [("frequency", Demand::Frequency), ("lack", Demand::Lack)];
                Field::one_of(&mut to.demand, names)
            },
        ),
        PlannerOption::new("needy", "plan for the neediest queries only", Weights, |to| {
            Field::Needy(&mut to.needy)
        }),
    ]
}

/// The weight of a part.
fn weight(part: Part) -> PlannerOption {
    let (name, help) =
        (format!("{}-weight", part.name()), format!("weight of the {}", part.meaning()));
    PlannerOption::new(name, help, Weights, move |to| {
        Field::Number(&mut to.estimate.weights[part], 0.0, MOST)
    })
    .weighing(part)
    .alias(format!("weights.{}", part.name()))
}

/// How URLs are estimated.
fn estimates() -> Vec<PlannerOption> {
    vec![
        PlannerOption::new("defence", "guard of estimates against manipulation", Pairs, |to| {
            Field::one_of(&mut to.estimate.defended, [("on", true), ("off", false)])
        }),
        PlannerOption::new("objective", "what a batch is to bring the most of", Pairs, |to| {
            Field::one_of(&mut to.estimate.objective, Objective::ALL.map(|one| (one.name(), one)))
        })
        .keeps_where(|_, new| new.estimate.objective.keeps_pairs()),
        PlannerOption::new("importance", "importance as in-links or PageRank", Pairs, |to| {
            let names = [("inlinks", Importance::Inlinks), ("pagerank", Importance::PageRank)];
            Field::one_of(&mut to.estimate.importance, names)
        }),
        PlannerOption::new("reading", "reading of the score estimate", Models, |to| {
            Field::one_of(&mut to.estimate.reading, ImpactReading::ALL.map(|one| (one.name(), one)))
        }),
        PlannerOption::new("without", "groups of evidence to leave out", Models, |to| {
            Field::Groups(&mut to.estimate.without)
        })
        .hidden(),
    ]
}

/// How URLs are matched with queries.
fn matching() -> Vec<PlannerOption> {
    vec![
        PlannerOption::new("rho", "share of a query's n-grams that a URL must hold", Pairs, |to| {
            Field::Number(&mut to.estimate.rule.rho, 0.0, 1.0)
        }),
        PlannerOption::new(
            "candidates",
            "URLs that are candidates of a query by words, at most",
            Pairs,
            |to| Field::Whole(&mut to.estimate.candidates, 1, MOST as usize),
        ),
        PlannerOption::new("match", "n-grams count by the idf of their words, or 1", Pairs, |to| {
            Field::one_of(&mut to.estimate.rule.idf_weighted, [("idf", true), ("count", false)])
        }),
        PlannerOption::new("ngram", "longest n-gram in words", Pairs, |to| {
            Field::Whole(&mut to.estimate.rule.max_words, 1, limits::BOUNDS.ngram_words)
        })
        .of_the_crawl(),
    ]
}

/// What result lists are.
fn lists() -> Vec<PlannerOption> {
    vec![
        PlannerOption::new("top", "length of a result list", Lists, |to| {
            Field::Whole(&mut to.k, 1, MOST_RESULTS)
        })
        .of_the_crawl()
        .alias("k"),
        PlannerOption::new("visibility", "how likely a rank is seen", Lists, |to| {
            Field::Visibility(&mut to.visibility)
        })
        .of_the_crawl(),
        PlannerOption::new("k1", "BM25's k1", Models, |to| {
            Field::Number(&mut to.bm25.k1, 0.0, MOST)
        })
        .of_the_crawl(),
        PlannerOption::new("b", "BM25's b", Models, |to| Field::Number(&mut to.bm25.b, 0.0, 1.0))
            .of_the_crawl(),
    ]
}
