//! Questions to an open store: plans under scenarios, beside the plan without one.

use serde_json::json;

use crate::campaign::assessment::Assessment;
use crate::campaign::next_batch::NextBatch;
use crate::campaign::reasons::{Reasons, by_url};
use crate::campaign::sufficiency::StoreSufficiency;
use crate::campaign::whatif_base::WhatIfBase;
use crate::campaign::{CampaignError, OpenStore};
use crate::plan::export::PlannedUrl;
use crate::plan::polite_time::Makespan;
use crate::planner::settings::PlanSettings;
use crate::results::whatif::{PlanFigures, SCHEMA, ScenarioFigures, StoreState, WhatIf};
use crate::whatif::answer::Answer;
use crate::whatif::difference::difference;
use crate::whatif::figures::figures;
use crate::whatif::hosts::Hosts;
use crate::whatif::scenario::Scenario;
use crate::whatif::workload::asked;
use crate::workload::Workload;

/// A store that answers.
///
/// ```
/// use prospect::campaign::{OpenStore, questions::Questions};
/// use prospect::planner::settings::PlanSettings;
/// use prospect::whatif::scenario::Scenario;
/// # use prospect_index::ingest::ingest_all;
/// # use prospect_index::page::PageRecord;
/// # use prospect::workload::{Query, Workload};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let root = dir.path();
/// # let page = PageRecord {
/// #     url: "https://a.test/".into(),
/// #     text: "Links on bread and on ships.".into(),
/// #     outlinks: vec![
/// #         ("https://b.test/1", "rye bread").into(),
/// #         ("https://b.test/2", "ships of the north").into(),
/// #         ("https://c.test/3", "white bread").into(),
/// #     ],
/// #     ..PageRecord::default()
/// # };
/// # ingest_all(root, vec![page], "one page")?;
/// # let workload = Workload { queries: vec![Query::new("1", "rye bread", 1.0, "")] };
/// // The page in the store links to three URLs, two of them on `b.test`.
/// let open = OpenStore::open(root, "an example", 3)?;
/// let settings = PlanSettings::new(2);
/// let questions = Questions::new(open, &workload, Vec::new(), &settings, Scenario::default())?;
/// assert_eq!((questions.base_figures.picks, questions.base_figures.frontier), (2, 3));
///
/// let scenario: Scenario = serde_json::from_str(r#"{"exclude-hosts": ["b.test"]}"#)?;
/// let figures = questions.figures_of(&scenario, &questions.answer(&scenario)?);
/// assert_eq!(figures.plan.picks, 1);
/// # Ok(())
/// # }
/// ```
pub struct Questions {
    /// The store.
    pub open: OpenStore,
    /// Pairs, models and settings.
    pub(crate) whatif_base: WhatIfBase,
    /// Hosts of its URLs.
    pub(crate) hosts: Hosts,
    /// What all scenarios stand on.
    pub(crate) shared: Scenario,
    /// URLs that may be planned, which shares in percent are of.
    plannable: usize,
    /// Whether the budget is as many URLs as there is time for.
    fills_time: bool,
    /// The plan without a scenario.
    pub base: Answer,
    /// Its figures.
    pub base_figures: PlanFigures,
}

/// A plan under a scenario, and what it took.
pub struct Answered {
    /// The plan.
    pub(crate) answer: Answer,
    /// Queries that had to be matched with the frontier.
    pub(crate) matched_queries: usize,
    /// Whether all pairs had to be estimated again.
    pub(crate) slow: bool,
    /// Whether its budget is what there is time for.
    fills_time: bool,
}

impl Questions {
    /// Makes the pairs and plans without a scenario, but for what all of them share.
    ///
    /// # Errors
    /// The store has no page, an index cannot be read, or what is shared cannot be carried out.
    pub fn new(
        open: OpenStore,
        workload: &Workload,
        within: Vec<bool>,
        settings: &PlanSettings,
        shared: Scenario,
    ) -> Result<Self, CampaignError> {
        let settings = shared.with_lists(settings).map_err(CampaignError::Answer)?;
        let whatif_base = WhatIfBase::new(&open, workload, within, settings)?;
        let hosts = Hosts::new(&open.known.urls);
        let plannable = open.frontier_within(&whatif_base.within);
        let planned = &whatif_base.base.settings;
        let fills_time = whatif_base.room(&open, planned) == Some(planned.selection.budget);
        let own = with_budget(shared.clone(), plannable, fills_time, (&open, &whatif_base))?;
        let Answered { answer: base, fills_time: fills, .. } =
            answer(&open, &whatif_base, &hosts, own)?;
        let base_figures = figures(&base, &open.known.urls, &hosts, fills);
        Ok(Self { open, whatif_base, hosts, shared, plannable, fills_time, base, base_figures })
    }

    /// The same questions to a newer state of the store, in which no plan is open.
    ///
    /// # Errors
    /// See [`Questions::new`]; or the plan was held to a list of URLs, which went with it.
    pub(crate) fn of_newer(&self, open: OpenStore) -> Result<Self, CampaignError> {
        let base = &self.whatif_base.base;
        if base.settings.within.is_some() {
            return Err(CampaignError::NoPlan);
        }
        let workload = Workload { queries: base.queries.to_vec() };
        Self::new(open, &workload, Vec::new(), &base.settings, self.shared.clone())
    }

    /// Plans under a scenario on top of what is shared.
    ///
    /// # Errors
    /// The scenario cannot be carried out, or an index cannot be read.
    pub fn answer(&self, scenario: &Scenario) -> Result<Answered, CampaignError> {
        let (scenario, from) = (scenario.on(&self.shared), (&self.open, &self.whatif_base));
        let scenario = with_budget(scenario, self.plannable, self.fills_time, from)?;
        answer(&self.open, &self.whatif_base, &self.hosts, scenario)
    }

    /// What comes of a scenario.
    ///
    /// # Errors
    /// See [`Questions::answer`].
    pub(crate) fn figures(&self, scenario: &Scenario) -> Result<ScenarioFigures, CampaignError> {
        Ok(self.figures_of(scenario, &self.answer(scenario)?))
    }

    /// What comes of a scenario that is answered.
    pub fn figures_of(&self, scenario: &Scenario, answered: &Answered) -> ScenarioFigures {
        let Answered { answer, matched_queries, slow, fills_time } = answered;
        let urls = &self.open.known.urls;
        ScenarioFigures {
            name: scenario.name.clone(),
            scenario: serde_json::to_value(scenario).unwrap_or_else(|_| json!({})),
            matched_queries: *matched_queries,
            slow: *slow,
            plan: figures(answer, urls, &self.hosts, *fills_time),
            difference: difference(&self.base, answer, urls, &self.hosts),
        }
    }

    /// Whether all pairs have to be estimated again for a scenario.
    pub(crate) fn is_slow(&self, scenario: &Scenario) -> bool {
        scenario.on(&self.shared).is_slow(&self.whatif_base.base.settings)
    }

    /// What the pages lack of the workload, where the plan without a scenario would be next.
    ///
    /// # Errors
    /// The index or a text cannot be read, or what is kept cannot be written.
    pub(crate) fn assessment(&self) -> Result<Assessment, CampaignError> {
        let Answer { settings, queries, .. } = &self.base;
        let workload = Workload { queries: queries.clone() };
        let sufficiency = StoreSufficiency::new(&self.open, &workload, settings.bm25)?;
        Assessment::new(&self.open, sufficiency, None, &self.next(), settings)
    }

    /// The plan without a scenario as the one that would be next.
    fn next(&self) -> NextBatch<'_> {
        let base = &self.base;
        let has_pages = self.open.store.manifest().next_seq > 0;
        NextBatch {
            queries: &base.queries,
            scored: &base.scored,
            places: base.served.places(),
            within: &self.whatif_base.within,
            in_flight: &base.in_flight,
            picks: &base.choice.batch.picks,
            expected: has_pages.then_some(base.expected.impact),
        }
    }

    /// What the reasons of an answer are made from.
    pub(crate) fn reasons<'a>(&'a self, answer: &'a Answer) -> Reasons<'a> {
        Reasons {
            known: &self.open.known,
            queries: &answer.queries,
            served: &answer.served,
            scored: &answer.scored,
            max_words: answer.settings.estimate.rule.max_words,
            link_context: None,
            embeddings: None,
            revisits: by_url(&answer.choice),
        }
    }

    /// The batch of an answer with its reasons, so many queries a URL, in the order in which it is to be fetched; and how
    /// long that takes.
    pub(crate) fn planned(&self, answer: &Answer, queries: usize) -> (Vec<PlannedUrl>, Makespan) {
        let picks = &answer.choice.batch.picks;
        let reasons = self.reasons(answer);
        reasons.scheduled(picks, queries, &answer.settings, &answer.in_flight)
    }

    /// The id that an answer has as a plan.
    ///
    /// # Errors
    /// Its settings cannot be written.
    pub(crate) fn id_of(&self, answered: &Answered) -> Result<String, CampaignError> {
        WhatIfBase::id_of(&self.open, &answered.answer)
    }

    /// Writes a plan to the store, in the place of the open one, and returns its id.
    ///
    /// # Errors
    /// The cycle of the open plan has to be closed first, or a write failed; then the store stays as it
    /// was.
    pub(crate) fn commit(&mut self, answered: &Answered) -> Result<String, CampaignError> {
        self.whatif_base.commit(&mut self.open, &answered.answer)
    }

    /// The state of the store.
    pub(crate) fn state(&self) -> StoreState {
        let base = &self.whatif_base.base;
        StoreState {
            plan_id: self.whatif_base.plan_id.clone(),
            on_base: self.shared != Scenario::default(),
            pages: self.open.known.pages.len(),
            queries: base.queries.len(),
            pairs: base.scored.pair_count(),
            k: base.settings.k,
            visibility: base.settings.visibility.named(),
            k1: base.settings.bm25.k1,
            b: base.settings.bm25.b,
        }
    }

    /// What comes of scenarios, one after the other; `done` is told of each.
    ///
    /// # Errors
    /// See [`Questions::answer`].
    pub(crate) fn whatif(
        &self,
        scenarios: &[Scenario],
        done: &mut dyn FnMut(&ScenarioFigures),
    ) -> Result<WhatIf, CampaignError> {
        let mut found = Vec::with_capacity(scenarios.len());
        for scenario in scenarios {
            let figures = self.figures(scenario)?;
            done(&figures);
            found.push(figures);
        }
        Ok(WhatIf {
            schema: SCHEMA.to_owned(),
            state: self.state(),
            base: self.base_figures.clone(),
            scenarios: found,
        })
    }
}

/// A scenario with a number of URLs where its budget is a share of those that may be planned, or where it has none and that of
/// the plan is what there is time for, and whether that is so.
fn with_budget(
    scenario: Scenario,
    plannable: usize,
    fills_time: bool,
    (open, whatif_base): (&OpenStore, &WhatIfBase),
) -> Result<(Scenario, bool), CampaignError> {
    let scenario = scenario.with_budget_of(plannable).map_err(CampaignError::Answer)?;
    if !fills_time || scenario.has_budget() {
        return Ok((scenario, false));
    }
    let settings = scenario.settings(&whatif_base.base.settings).map_err(CampaignError::Answer)?;
    match whatif_base.room(open, &settings) {
        Some(urls) => Ok((scenario.with_budget(urls).map_err(CampaignError::Answer)?, true)),
        None => Ok((scenario, false)),
    }
}

fn answer(
    open: &OpenStore,
    whatif_base: &WhatIfBase,
    hosts: &Hosts,
    (scenario, fills_time): (Scenario, bool),
) -> Result<Answered, CampaignError> {
    let base = &whatif_base.base;
    let asked =
        asked(&base.queries, &scenario, &open.known.analyzer).map_err(CampaignError::Answer)?;
    let new = asked.queries.len() - asked.known;
    let slow = scenario.is_slow(&base.settings);
    let base = if slow {
        let settings = scenario.settings(&base.settings).map_err(CampaignError::Answer)?;
        whatif_base.again(open, &asked.queries, &settings)?
    } else {
        base.with(&asked, &whatif_base.matched(open, &asked)?)
    };
    let answer =
        base.answer(&scenario, &asked, &open.known.urls, hosts).map_err(CampaignError::Answer)?;
    Ok(Answered { answer, matched_queries: new, slow, fills_time })
}
