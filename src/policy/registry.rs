//! Every policy by name.

use std::str::FromStr;

use super::amount::BatchSize;
use super::breadth::BreadthFirst;
use super::depth::DepthFirst;
use super::hidden_web::Web;
use super::host_mean::HostMean;
use super::importance::{Inlinks, PageRank};
use super::opic::Opic;
use super::options::{Options, PolicyOptionError};
use super::planned::Planned;
use super::planned_kinds::{self, WITHOUT};
use super::posterior::PosteriorQuality;
use super::priority::FixedPriority;
use super::propagation::{Propagation, Rule};
use super::quality_skip::{LOW, QualitySkip};
use super::site_budget::{SiteBudget, WANDER};
use super::{Basics, CrawlPolicy, Quality, Truth};
use crate::estimate::features::group::FeatureGroup;
use crate::estimate::parts::Part;
use crate::estimate::settings::ImpactReading;
use crate::planner::settings::PlanSettings;

/// One policy.
pub(crate) struct PolicyKind {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it does, in a line.
    pub(crate) about: &'static str,
    /// Where it comes from.
    pub(crate) source: &'static str,
    /// Options of its own, with their meaning.
    own_options: &'static [(&'static str, &'static str)],
    make: Make,
}

type Made<'a> = Result<Box<dyn CrawlPolicy + 'a>, PolicyOptionError>;

/// How a policy is made, which tells what it can know.
enum Make {
    /// From what a crawl shows.
    Links(for<'a> fn(&Basics<'a>, &Options) -> Made<'a>),
    /// Also from the quality of fetched pages.
    Quality(for<'a> fn(&Basics<'a>, Quality<'a>, &Options) -> Made<'a>),
    /// By the planner, with these settings.
    Planned(fn(&Options, PlanSettings) -> Result<PlanSettings, PolicyOptionError>),
    /// From the quality of pages not fetched.
    QualityOracle(for<'a> fn(&Basics<'a>, Quality<'a>) -> Box<dyn CrawlPolicy + 'a>),
    /// From true impact or judgements.
    TruthOracle(for<'a> fn(&Basics<'a>, Truth<'a>) -> Box<dyn CrawlPolicy + 'a>),
}

const IMPORTANCE: &[(&str, &str)] = &[("importance", "inlinks (default) or pagerank")];
const WANDER_OPTION: &[(&str, &str)] = &[("wander", "share of the budget that wanders, 0.1")];
const QUALITY_SKIP_OPTIONS: &[(&str, &str)] = &[
    ("low", "quantile of the scores so far below which quality is low, 0.3"),
    ("skipped", "postpone (default) or drop"),
];
const ICTIR: &str = "Pezzuti, MacAvaney, Tonellotto, ICTIR 2025";
const WSDM: &str = "Pandey, Olston, WSDM 2008";
const DQS: &str = "Pezzuti, Mueller, MacAvaney, Tonellotto, 2025";
const CRAWL4AI: &str = "crawl4ai, progressive crawling";
const OURS: &str = "Prospect";

const fn kind(
    name: &'static str,
    about: &'static str,
    source: &'static str,
    own_options: &'static [(&'static str, &'static str)],
    make: Make,
) -> PolicyKind {
    PolicyKind { name, about, source, own_options, make }
}

/// All of them, in the order in which they are listed.
pub(crate) const POLICIES: &[PolicyKind] = &[
    kind(
        "random",
        "uniformly at random from the frontier",
        "baseline",
        &[],
        Make::Links(|basics, _| Ok(Box::new(FixedPriority::random(basics)))),
    ),
    kind(
        "bfs",
        "first in, first out",
        "baseline",
        &[],
        Make::Links(|_, _| Ok(Box::<BreadthFirst>::default())),
    ),
    kind(
        "dfs",
        "last in, first out",
        "baseline",
        &[],
        Make::Links(|_, _| Ok(Box::<DepthFirst>::default())),
    ),
    kind(
        "inlinks",
        "most links from fetched pages",
        "Cho, Garcia-Molina, Page, WWW 1998",
        &[],
        Make::Links(|basics, _| Ok(Box::new(Inlinks::new(basics)))),
    ),
    kind(
        "pagerank",
        "highest PageRank over fetched links, anew per batch",
        "Cho, Garcia-Molina, Page, WWW 1998",
        &[],
        Make::Links(|basics, _| Ok(Box::new(PageRank::new(basics)))),
    ),
    kind(
        "opic",
        "most cash",
        "Abiteboul, Preda, Cobena, WWW 2003",
        &[],
        Make::Links(|basics, _| Ok(Box::new(Opic::new(basics)))),
    ),
    kind(
        "site-budget",
        "budget per host by its centrality, a share wanders",
        OURS,
        WANDER_OPTION,
        Make::Links(|basics, options| {
            let wander = options.number("wander", 0.0, 1.0)?.unwrap_or(WANDER);
            Ok(Box::new(SiteBudget::new(basics, wander)))
        }),
    ),
    kind(
        "query-independent",
        "highest importance",
        WSDM,
        IMPORTANCE,
        Make::Links(|basics, options| {
            let choices = [("inlinks", false), ("pagerank", true)];
            Ok(match options.choice("importance", &choices)? {
                Some(true) => Box::new(PageRank::new(basics)),
                _ => Box::new(Inlinks::new(basics)),
            })
        }),
    ),
    kind(
        "query-driven",
        "most sketches entered by expected score",
        WSDM,
        &[],
        Make::Planned(planned_kinds::query_driven),
    ),
    kind(
        "hybrid",
        "0.9 query-driven impact, 0.1 impact expected from importance",
        WSDM,
        &[],
        Make::Planned(planned_kinds::hybrid),
    ),
    kind(
        "sufficiency",
        "relevance, novelty and authority of links, for what queries still lack",
        CRAWL4AI,
        &[],
        Make::Planned(planned_kinds::sufficiency),
    ),
    kind(
        "prospect",
        "plans as a campaign on a store does",
        OURS,
        &[],
        Make::Planned(planned_kinds::prospect),
    ),
    kind(
        "qfirst",
        "quality of the first parent",
        ICTIR,
        &[],
        Make::Quality(|basics, quality, _| {
            Ok(Box::new(Propagation::new(basics, quality, Rule::First)))
        }),
    ),
    kind(
        "qmin",
        "lowest quality of the parents so far",
        ICTIR,
        &[],
        Make::Quality(|basics, quality, _| {
            Ok(Box::new(Propagation::new(basics, quality, Rule::Min)))
        }),
    ),
    kind(
        "qmean",
        "mean quality of the parents so far",
        OURS,
        &[],
        Make::Quality(|basics, quality, _| {
            Ok(Box::new(Propagation::new(basics, quality, Rule::Mean)))
        }),
    ),
    kind(
        "qhost",
        "mean quality of the host so far",
        OURS,
        &[],
        Make::Quality(|basics, quality, _| Ok(Box::new(HostMean::new(basics, quality)))),
    ),
    kind(
        "qposterior",
        "quality expected from parents, host and crawl by how much each says",
        OURS,
        &[],
        Make::Quality(|basics, quality, _| Ok(Box::new(PosteriorQuality::new(basics, quality)))),
    ),
    kind(
        "quality-skip",
        "breadth-first past what is mostly linked from low quality",
        DQS,
        QUALITY_SKIP_OPTIONS,
        Make::Quality(|basics, quality, options| {
            let low = options.number("low", 0.0, 1.0)?.unwrap_or(LOW);
            let choices = [("postpone", false), ("drop", true)];
            let drops = options.choice("skipped", &choices)?.unwrap_or(false);
            Ok(Box::new(QualitySkip::new(basics, quality, low, drops)))
        }),
    ),
    kind(
        "qoracle",
        "the page's own quality",
        ICTIR,
        &[],
        Make::QualityOracle(|basics, quality| {
            Box::new(Propagation::new(basics, quality, Rule::Own))
        }),
    ),
    kind(
        "craw4llm-oracle",
        "the page's own quality, seeds first in file order",
        "Yu, Liu, Xiong, ACL 2025",
        &[],
        Make::QualityOracle(|basics, quality| {
            Box::new(FixedPriority::new(basics, quality.0.to_vec()))
        }),
    ),
    kind(
        "impact-oracle",
        "the page's true impact",
        "reference",
        &[],
        Make::TruthOracle(|basics, truth| {
            Box::new(FixedPriority::new(basics, truth.impact.to_vec()))
        }),
    ),
    kind(
        "relevance-oracle",
        "most queries that the page was judged relevant for",
        "reference",
        &[],
        Make::TruthOracle(|basics, truth| {
            let score = truth.relevant.iter().map(|&queries| f64::from(queries)).collect();
            Box::new(FixedPriority::new(basics, score))
        }),
    ),
];

impl PolicyKind {
    /// Options with their meaning.
    pub(crate) fn options(&self) -> Vec<(&'static str, String)> {
        let own = self.own_options.iter().map(|(name, meaning)| (*name, (*meaning).to_owned()));
        let planned = planned_kinds::options().filter(|_| self.is_planned());
        let planned = planned.map(|option| {
            (option.name.as_str(), format!("{}: {}", option.help, option.kind().range()))
        });
        let batch = "pages per batch, in the place of the experiment's: a number, a share, or a time such as 60s";
        own.chain(planned).chain([(BATCH, batch.to_owned())]).collect()
    }

    /// Whether it reads what no crawler can know.
    pub(crate) fn is_oracle(&self) -> bool {
        matches!(self.make, Make::QualityOracle(_) | Make::TruthOracle(_))
    }

    /// Whether it reads quality scores.
    pub(crate) fn needs_quality(&self) -> bool {
        matches!(self.make, Make::Quality(_) | Make::QualityOracle(_))
    }

    /// Whether it plans, and so needs text and n-grams.
    pub(crate) fn is_planned(&self) -> bool {
        matches!(self.make, Make::Planned(_))
    }
}

/// What policies are made from; what is absent cannot be read.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// What every policy knows.
    pub basics: Basics<'a>,
    /// By page: quality of its text, as a log-probability, where there are scores.
    pub quality: Option<&'a [f64]>,
    /// For the planner.
    pub web: Option<&'a Web<'a>>,
    /// By page: true impact over the planning workload, for oracles.
    pub impact: &'a [f64],
    /// By page: queries that it was judged relevant for, for oracles.
    pub relevant: &'a [u32],
}

/// The option that every policy has.
const BATCH: &str = "batch";

/// A policy with its options.
#[derive(Clone)]
pub struct PolicyChoice {
    /// The policy.
    pub(crate) kind: &'static PolicyKind,
    /// Its options.
    options: Options,
    /// Its batch size as it was given, if it has one of its own.
    batch: Option<(String, BatchSize)>,
}

/// From `name` or `name+option=value…`.
///
/// ```
/// use prospect::policy::PolicyChoice;
///
/// assert!("bfs".parse::<PolicyChoice>().is_ok());
/// assert!("site-budget+wander=0.2".parse::<PolicyChoice>().is_ok());
/// assert!("qmin+batch=1".parse::<PolicyChoice>().is_ok());
/// let error = |given: &str| given.parse::<PolicyChoice>().err().map(|error| error.to_string());
/// assert_eq!(error("best").as_deref(), Some("there is no policy \"best\""));
/// assert!(error("bfs+wander=0.2").is_some_and(|error| error.contains("has no option")));
/// assert!(error("site-budget+wander=2").is_some());
/// ```
impl FromStr for PolicyChoice {
    type Err = PolicyOptionError;

    fn from_str(given: &str) -> Result<Self, PolicyOptionError> {
        let mut parts = given.split('+');
        let name = parts.next().unwrap_or_default();
        let Some(kind) = POLICIES.iter().find(|kind| kind.name == name) else {
            return Err(PolicyOptionError::Policy { name: name.to_owned() });
        };
        let known = kind.options();
        let known: Vec<&str> = known.iter().map(|(option, _)| *option).collect();
        let (batch, parts): (Vec<&str>, Vec<&str>) =
            parts.partition(|part| part.split('=').next() == Some(BATCH));
        let options = Options::parse(name, parts.into_iter(), &known)?;
        let mut choice = Self { kind, options, batch: None };
        if let Some(given) = batch.last() {
            choice = choice.with_batch(given.split_once('=').map_or("", |(_, given)| given))?;
        }
        choice.check()?;
        Ok(choice)
    }
}

impl PolicyChoice {
    /// Name and options: the policy's label in every output.
    pub(crate) fn label(&self) -> String {
        let batch = self.batch.iter().map(|(given, _)| format!("+{BATCH}={given}"));
        format!("{}{}{}", self.kind.name, self.options.suffix(), batch.collect::<String>())
    }

    /// The policy with a batch size of its own.
    ///
    /// # Errors
    /// It is no number of pages, no share and no time.
    pub(crate) fn with_batch(&self, given: &str) -> Result<Self, PolicyOptionError> {
        let batch = BatchSize::parse(given).ok_or_else(|| PolicyOptionError::Value {
            option: BATCH.to_owned(),
            value: given.to_owned(),
            expected: "a number of pages, a share such as 1%, or a time such as 60s,".to_owned(),
        })?;
        Ok(Self { batch: Some((given.to_owned(), batch)), ..self.clone() })
    }

    /// Its own batch size, if it has one.
    pub(crate) fn batch(&self) -> Option<BatchSize> {
        self.batch.as_ref().map(|(_, batch)| *batch)
    }

    /// Whether it fetches in the same order whatever the number of pages in a batch.
    pub(crate) fn ignores_batches(&self) -> bool {
        self.kind.name == "bfs"
    }

    /// Tries the values of the options.
    fn check(&self) -> Result<(), PolicyOptionError> {
        let basics = Basics { url_order: &[], host: &[], hosts: 0, seed: 0, set: 1 };
        match self.kind.make {
            Make::Links(make) => make(&basics, &self.options).map(|_| ()),
            Make::Quality(make) => make(&basics, Quality(&[]), &self.options).map(|_| ()),
            Make::Planned(settings) => settings(&self.options, PlanSettings::new(1)).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// The settings that a planned policy plans with, over those given; these themselves for a
    /// policy that does not plan.
    ///
    /// # Errors
    /// An option has a value that does not fit.
    pub(crate) fn settings(
        &self,
        settings: PlanSettings,
    ) -> Result<PlanSettings, PolicyOptionError> {
        match self.kind.make {
            Make::Planned(of) => of(&self.options, settings),
            _ => Ok(settings),
        }
    }

    /// The policy without a group of evidence; `None` if it reads no groups, or does without some.
    pub(crate) fn without(&self, group: FeatureGroup) -> Option<Self> {
        let settings = self.settings(PlanSettings::new(1)).ok()?;
        let reads = settings.estimate.reading == ImpactReading::Learned && self.kind.is_planned();
        let whole = reads && !self.options.has(WITHOUT);
        let options = self.options.with(WITHOUT, group.name());
        whole.then_some(Self { options, ..self.clone() })
    }

    /// Makes the policy for one crawl. `settings` are those of the planner before the policy's own
    /// options.
    ///
    /// # Errors
    /// The policy needs quality scores or a workload and there are none.
    pub fn make<'a>(&self, from: &Sources<'a>, settings: PlanSettings) -> Made<'a> {
        let missing = |what| PolicyOptionError::Missing { policy: self.kind.name.to_owned(), what };
        let scores = from.quality.map(Quality);
        let quality = scores.ok_or_else(|| missing("quality scores"));
        Ok(match self.kind.make {
            Make::Links(make) => make(&from.basics, &self.options)?,
            Make::Quality(make) => make(&from.basics, quality?, &self.options)?,
            Make::QualityOracle(make) => make(&from.basics, quality?),
            Make::TruthOracle(make) => {
                make(&from.basics, Truth { impact: from.impact, relevant: from.relevant })
            }
            Make::Planned(of) => {
                let web = from.web.ok_or_else(|| missing("a workload"))?;
                let settings = of(&self.options, settings)?;
                let weights = settings.estimate.weights;
                let quality = scores.filter(|_| weights[Part::Quality] > 0.0);
                Box::new(Planned::new(web, quality, settings))
            }
        })
    }
}
