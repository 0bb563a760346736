//! Which strategy judges the queries, and what it is given for that.

use std::collections::BTreeMap;

use super::language_model::Opinion;
use super::{Args, Drawn};
use crate::campaign::OpenStore;
use crate::campaign::assessment::{Assessment, Judgements};
use crate::campaign::evidence::evidence;
use crate::campaign::plan_course;
use crate::campaign::planned::Plan;
use crate::cli::Global;
use crate::cli::model::{Others, embed};
use crate::cli::output::Failure;
use crate::neural::Embedder;
use crate::neural::text_vectors::EmbeddingModel;
use crate::planner::settings::PlanSettings;
use crate::sufficiency::strategy::best_page::BestPage;
use crate::sufficiency::strategy::embedding::AllWordings;
use crate::sufficiency::strategy::language_model::{AskedModel, LanguageModel, Shown};
use crate::sufficiency::strategy::{Needs, STRATEGIES, StrategyKind, SufficiencyStrategy};
use crate::sufficiency::validation::Variants;
use crate::workload::{Query, Workload};

/// Links that a strategy would follow next, which are told.
const NEXT: usize = 5;

/// What strategies other than the default need.
pub(super) struct Means<'a> {
    /// A language model, where one is named.
    pub(super) model: Option<&'a mut AskedModel>,
    /// An embedding model, where one is named.
    pub(super) embedder: Option<Box<dyn Embedder>>,
}

/// Refuses a strategy whose means are not named.
pub(super) fn check(kind: &StrategyKind, args: &Args, has_model: bool) -> Result<(), Failure> {
    let is_other = kind.name != STRATEGIES[0].name;
    let named = if args.definition == "compatible" && is_other {
        Some((
            "the definition `compatible` is of the statistical strategy",
            "leave out one of the two",
        ))
    } else if kind.needs == Needs::LanguageModel && !has_model {
        Some(("no language model is named", "--strategy llm goes with --llm-url and --llm-model"))
    } else {
        None
    };
    named.map_or(Ok(()), |(what, hint)| Err(Failure::input(anyhow::anyhow!(what), hint)))
}

/// Has the queries judged; `found` is judged by parts.
pub(super) fn judge(
    kind: &'static StrategyKind,
    open: &mut OpenStore,
    (found, plan): (&mut Assessment, &Plan),
    means: Means<'_>,
    (drawn, show): (&Drawn, usize),
    global: &Global,
) -> Result<(), Failure> {
    let judgements = match (kind.needs, means.model) {
        (Needs::LanguageModel, None) => return Ok(()),
        (Needs::Nothing, _) if *kind == STRATEGIES[0] => return Ok(()),
        (Needs::Nothing, _) => {
            let mut best_page = BestPage { best: &found.sufficiency.best };
            ask(kind, &mut best_page, &all_of(found.queries()), (found.queries(), show))
        }
        (Needs::EmbeddingModel, _) => {
            by_vectors(kind, open, found, means.embedder, (drawn, show), global)?
        }
        (Needs::LanguageModel, Some(model)) => by_model(kind, open, (found, plan), model, show)?,
    };
    found.judge(judgements);
    Ok(())
}

/// Asks a strategy about the queries at these places; of those that lack most, so many, it also says which link it would
/// follow.
fn ask(
    kind: &StrategyKind,
    strategy: &mut dyn SufficiencyStrategy,
    places: &[usize],
    (queries, show): (&[Query], usize),
) -> Judgements {
    let judged = places.iter().copied().zip(strategy.judge(places));
    let by_query = judged.filter_map(|(at, own)| Some((at, own?))).collect();
    let mut judgements = Judgements { strategy: kind.name, by_query, ..Judgements::default() };
    for at in judgements.by_lack(queries).into_iter().take(show) {
        judgements.links.extend(strategy.links(at, 1).pop().map(|link| (at, link)));
    }
    judgements
}

/// By nearness in meaning, with links for the queries that lack most.
fn by_vectors(
    kind: &'static StrategyKind,
    open: &mut OpenStore,
    found: &Assessment,
    embedder: Option<Box<dyn Embedder>>,
    (Drawn { workload, variants }, show): (&Drawn, usize),
    global: &Global,
) -> Result<Judgements, Failure> {
    let model = embedder.as_deref().map(EmbeddingModel::of).or_else(|| of_plan(open));
    let Some(model) = model else {
        let error = anyhow::anyhow!("no embedding model is named, and the open plan has none");
        let hint = "--strategy embedding goes with --embedding-model DIR; models/README.md tells how one is exported";
        return Err(Failure::input(error, hint));
    };
    let queries = found.queries().to_vec();
    let of_query = by_place(found, workload, variants);
    let none: &[String] = &[];
    let wordings = AllWordings::new(&queries, |at| {
        of_query.get(&at).map_or((none, none), |own| (&own.planned, &own.held_out))
    });
    let texts = wordings.texts.iter().map(|text| Query::new("", text, 1.0, ""));
    let texts = Workload { queries: texts.collect() };
    if let Some(embedder) = embedder {
        embed(open, embedder, &texts, Others::Keep, global)?;
    }
    let vectors = open.plan_vectors(Some(&model), &texts.queries)?;
    let Some(vectors) = &vectors else { return Ok(Judgements::default()) };
    let mut strategy = open.embedding_strategy(vectors, wordings);
    let judgements = ask(kind, &mut strategy, &all_of(&queries), (&queries, show));
    Ok(Judgements {
        embedding: Some(strategy.summary(&queries)),
        next: strategy.expansion(&queries, NEXT),
        ..judgements
    })
}

/// The places of all queries.
fn all_of(queries: &[Query]) -> Vec<usize> {
    (0..queries.len()).collect()
}

/// The model that the newest open plan was made with.
fn of_plan(open: &OpenStore) -> Option<EmbeddingModel> {
    let newest = open.store.manifest().plans.last()?;
    plan_course::settings::<PlanSettings>(newest).ok()?.embedding
}

/// Wordings by place of the assessed query; where several queries are one, those of the first.
fn by_place<'v>(
    found: &Assessment,
    workload: &Workload,
    variants: &'v [Variants],
) -> BTreeMap<usize, &'v Variants> {
    let places = found.sufficiency.queries.places_of(&workload.queries);
    let mut by_place = BTreeMap::new();
    for own in variants {
        if let Some(at) = places[own.query] {
            by_place.entry(at).or_insert(own);
        }
    }
    by_place
}

/// By a language model: the queries that are asked most, as long as it answers; then links for those that lack most.
fn by_model(
    kind: &'static StrategyKind,
    open: &OpenStore,
    (found, plan): (&Assessment, &Plan),
    model: &mut AskedModel,
    show: usize,
) -> Result<Judgements, Failure> {
    let queries = found.queries();
    let mut places = all_of(queries);
    let asked = |at: &usize| queries[*at].frequency;
    places.sort_by(|a, b| asked(b).total_cmp(&asked(a)).then(a.cmp(b)));
    places.truncate(model.most_calls());
    let shown = shown(open, found, plan, &places)?;
    places.retain(|at| shown.contains_key(at));
    let mut strategy = LanguageModel { model, shown };
    Ok(ask(kind, &mut strategy, &places, (queries, show)))
}

/// What a model says beside the strategy that judges, of the queries that lack most.
pub(super) fn opinions(
    open: &OpenStore,
    (found, plan): (&Assessment, &Plan),
    most: usize,
    model: &mut AskedModel,
) -> Result<BTreeMap<usize, Opinion>, Failure> {
    let mut places = found.by_lack();
    places.truncate(most);
    let mut strategy = LanguageModel { model, shown: shown(open, found, plan, &places)? };
    let mut opinions = BTreeMap::new();
    for at in places {
        if let Some(judgement) = strategy.judge(&[at]).pop().flatten() {
            let best_link = strategy.links(at, 1).pop().map(|link| (link.url, link.score));
            opinions.insert(at, Opinion { sufficiency: judgement.sufficiency, best_link });
        }
    }
    Ok(opinions)
}

/// What a model is shown of the queries at these places that the plan has.
fn shown(
    open: &OpenStore,
    found: &Assessment,
    plan: &Plan,
    places: &[usize],
) -> Result<BTreeMap<usize, Shown>, Failure> {
    let planned = found.sufficiency.queries.places_of(&plan.workload.queries);
    let mut place_in_plan: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, place) in planned.into_iter().enumerate() {
        if let Some(place) = place {
            place_in_plan.entry(place).or_insert(at);
        }
    }
    let both: Vec<(usize, usize)> =
        places.iter().filter_map(|at| Some((*at, *place_in_plan.get(at)?))).collect();
    let asked: Vec<usize> = both.iter().map(|(_, in_plan)| *in_plan).collect();
    let shown = evidence(open, plan, &asked)?;
    Ok(both.into_iter().map(|(at, _)| at).zip(shown).collect())
}
