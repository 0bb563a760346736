//! Options that several commands share, and their validated form.

use clap::{Args, ValueEnum};
use prospect_index::bm25::Bm25;
use prospect_index::limits;

use super::Failure;
use crate::estimate::candidates::ngram::MatchRule;
use crate::estimate::features::group::FeatureGroups;
use crate::estimate::models::pair_model::PairModel;
use crate::estimate::objective::Objective;
use crate::estimate::parts::{Part, Parts};
use crate::estimate::settings::{EstimateSettings, ImpactReading, Importance};
use crate::plan::SelectionSettings;
use crate::plan::caps::{Caps, SITE_SHARE};
use crate::plan::explore::EXPLORE;
use crate::planner::settings::PlanSettings;
use crate::sketch::DEFAULT_K;
use crate::sketch::need::Needy;
use crate::sketch::visibility::Visibility;

/// How n-grams are blended.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum MatchArg {
    /// Each n-gram counts by the idf of its words.
    Idf,
    /// Each n-gram counts 1.
    Count,
}

/// Which reading of the score estimate makes the impact.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ReadingArg {
    /// Whether the expected score is in the sketch.
    Sketch,
    /// The chance to be in the top K for good, learned from the crawl.
    Lasting,
}

/// Which importance.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ImportanceArg {
    /// In-links from crawled pages.
    Inlinks,
    /// PageRank over crawled links.
    Pagerank,
}

/// Where the weights of the blend come from.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum BlendArg {
    /// Fitted on what past picks turned out to be.
    Fitted,
    /// As given.
    Fixed,
}

/// What a batch is to bring the most of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ObjectiveArg {
    /// Impact, the score to beat at its expectation.
    Expected,
    /// Impact, over all ranks that pages can come in.
    Ranks,
    /// What result lists hold after the batch, so that no two pages are picked for one place.
    Served,
    /// The lower quartile of the impact.
    Cautious,
}

impl ObjectiveArg {
    /// The objective that is meant.
    pub(super) fn objective(self) -> Objective {
        match self {
            Self::Expected => Objective::Expected,
            Self::Ranks => Objective::Ranks,
            Self::Served => Objective::Served,
            Self::Cautious => Objective::Cautious,
        }
    }
}

/// Whether there is a defence.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum DefenceArg {
    /// Sites that break promises count less.
    On,
    /// All evidence is believed.
    Off,
}

/// Caps of a batch.
#[derive(Args, Clone, Debug)]
pub(super) struct CapOptions {
    /// At most so many URLs of one host.
    #[arg(long, value_name = "N")]
    per_host: Option<usize>,
    /// At most so many URLs of one registrable domain.
    #[arg(long, value_name = "N")]
    per_domain: Option<usize>,
    /// At most so many URLs of one site.
    #[arg(long, value_name = "N")]
    per_site: Option<usize>,
    /// At most this share of the budget of one site, or the site's share of the pages fetched so far
    /// where that is more, if the frontier has at least 20 sites and the others can fill the rest; 0
    /// or 1 is no cap.
    #[arg(long, value_name = "SHARE", default_value_t = SITE_SHARE, allow_negative_numbers = true)]
    site_share: f64,
}

impl CapOptions {
    /// The caps, validated.
    pub(super) fn caps(&self) -> Result<Caps, Failure> {
        Ok(Caps {
            per_host: self.per_host,
            per_domain: self.per_domain,
            per_site: self.per_site,
            site_share: Caps::share(range("--site-share", self.site_share, 0.0, 1.0)?),
        })
    }
}

#[derive(Args, Clone, Debug)]
pub(super) struct PlanOptions {
    /// URLs to plan at most.
    #[arg(long, value_name = "N")]
    pub(super) budget: usize,
    #[command(flatten)]
    caps: CapOptions,
    /// Share of the budget that is drawn at random, most of it from what comes next in the ranking.
    #[arg(long, value_name = "SHARE", default_value_t = EXPLORE, allow_negative_numbers = true)]
    explore: f64,
    /// Seed of the draw.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Plan for the neediest queries only: a number, or a share below 1 such as 0.1.
    #[arg(long, value_name = "N|SHARE", allow_negative_numbers = true)]
    needy: Option<String>,
    /// Share of a query's n-grams that a URL must hold.
    #[arg(long, value_name = "SHARE", default_value_t = MatchRule::default().rho, allow_negative_numbers = true)]
    rho: f64,
    /// How n-grams are blended against rho.
    #[arg(long = "match", value_enum, default_value = "idf")]
    matching: MatchArg,
    /// Longest n-gram in words.
    #[arg(long, value_name = "N", default_value_t = 3)]
    ngram: usize,
    /// Length of a result list.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_K)]
    top: usize,
    /// How likely a rank is seen: top, log, or geometric:P.
    #[arg(long, value_name = "V", default_value_t)]
    visibility: Visibility,
    /// Reading of the score estimate.
    #[arg(long, value_enum, default_value = "lasting")]
    reading: ReadingArg,
    /// Importance of the query-independent part.
    #[arg(long, value_enum, default_value = "inlinks")]
    importance: ImportanceArg,
    /// Weight of the query-based impact, as a start.
    #[arg(long, value_name = "W", default_value_t = Parts::START[Part::Query], allow_negative_numbers = true)]
    query_weight: f64,
    /// Weight of the impact on queries whose best pages link to it, or that are near to it in meaning, as a
    /// start.
    #[arg(long, value_name = "W", default_value_t = Parts::START[Part::Locality], allow_negative_numbers = true)]
    locality_weight: f64,
    /// Weight of the impact that the page model expects, as a start.
    #[arg(long, value_name = "W", default_value_t = Parts::START[Part::Page], allow_negative_numbers = true)]
    page_weight: f64,
    /// Weight of the impact expected from importance, as a start.
    #[arg(long, value_name = "W", default_value_t = Parts::START[Part::Importance], allow_negative_numbers = true)]
    importance_weight: f64,
    /// Weight of the impact expected from quality, as a start.
    #[arg(long, value_name = "W", default_value_t = Parts::START[Part::Quality], allow_negative_numbers = true)]
    quality_weight: f64,
    /// Whether the weights are fitted on past picks or stay as given.
    #[arg(long, value_enum, default_value = "fitted")]
    blend: BlendArg,
    /// Whether estimates are guarded against manipulation.
    #[arg(long, value_enum, default_value = "on")]
    defence: DefenceArg,
    /// What the batch is to bring the most of.
    #[arg(long, value_enum, default_value = "expected")]
    objective: ObjectiveArg,
    /// BM25's k1.
    #[arg(long, value_name = "K1", default_value_t = Bm25::default().k1, allow_negative_numbers = true)]
    k1: f64,
    /// BM25's b.
    #[arg(long, value_name = "B", default_value_t = Bm25::default().b, allow_negative_numbers = true)]
    b: f64,
}

impl PlanOptions {
    /// The settings, validated.
    pub(super) fn settings(&self) -> Result<PlanSettings, Failure> {
        let share = |name, value| range(name, value, 0.0, 1.0);
        let weight = |name, value| range(name, value, 0.0, 1e9);
        whole("--budget", self.budget, 1, usize::MAX)?;
        let rule = MatchRule {
            rho: share("--rho", self.rho)?,
            idf_weighted: matches!(self.matching, MatchArg::Idf),
            max_words: whole("--ngram", self.ngram, 1, limits::NGRAM_WORDS)?,
        };
        let estimate = EstimateSettings {
            rule,
            reading: match self.reading {
                ReadingArg::Sketch => ImpactReading::Sketch,
                ReadingArg::Lasting => ImpactReading::Learned,
            },
            importance: match self.importance {
                ImportanceArg::Inlinks => Importance::Inlinks,
                ImportanceArg::Pagerank => Importance::PageRank,
            },
            weights: Parts::from([
                weight("--query-weight", self.query_weight)?,
                weight("--locality-weight", self.locality_weight)?,
                weight("--page-weight", self.page_weight)?,
                weight("--importance-weight", self.importance_weight)?,
                weight("--quality-weight", self.quality_weight)?,
            ]),
            fitted: matches!(self.blend, BlendArg::Fitted),
            pair_model: PairModel::default(),
            without: FeatureGroups::default(),
            defended: matches!(self.defence, DefenceArg::On),
            objective: self.objective()?,
        };
        let (caps, explore) = (self.caps.caps()?, share("--explore", self.explore)?);
        Ok(PlanSettings {
            k: whole("--top", self.top, 1, 1000)?,
            visibility: self.visibility,
            bm25: Bm25 { k1: weight("--k1", self.k1)?, b: share("--b", self.b)? },
            estimate,
            selection: SelectionSettings { budget: self.budget, caps, explore, seed: self.seed },
            needy: self.needy.as_deref().map(needy).transpose()?,
            within: None,
            embedding: None,
        })
    }
}

impl PlanOptions {
    fn objective(&self) -> Result<Objective, Failure> {
        let objective = self.objective.objective();
        if objective.reads_scores() && matches!(self.reading, ReadingArg::Sketch) {
            let error = anyhow::anyhow!(
                "--reading sketch knows no distribution of scores, which the objectives ranks and served read"
            );
            return Err(Failure::input(error, "leave out --reading, or --objective"));
        }
        Ok(objective)
    }
}

fn range(name: &str, value: f64, least: f64, most: f64) -> Result<f64, Failure> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let error = anyhow::anyhow!("{name} is {value}; it must lie between {least} and {most}");
    Err(Failure::input(
        error,
        format!("for example {name} {}", f64::midpoint(least, most.min(1.0))),
    ))
}

fn whole(name: &str, value: usize, least: usize, most: usize) -> Result<usize, Failure> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let end = if most == usize::MAX { String::new() } else { format!(" and at most {most}") };
    let error = anyhow::anyhow!("{name} is {value}; it must be at least {least}{end}");
    Err(Failure::input(error, format!("for example {name} {least}")))
}

fn needy(given: &str) -> Result<Needy, Failure> {
    let bad = || {
        let error = anyhow::anyhow!(
            "--needy is {given:?}; a number of queries or a share below 1 was expected"
        );
        Failure::input(error, "for example --needy 1000, or --needy 0.1 for a tenth")
    };
    if let Ok(count) = given.parse::<usize>() {
        return if count > 0 { Ok(Needy::Count(count)) } else { Err(bad()) };
    }
    match given.parse::<f64>() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(Needy::Share(share)),
        _ => Err(bad()),
    }
}
