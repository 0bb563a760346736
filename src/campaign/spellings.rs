//! Other spellings of one page in a store: what its pages say of rules, which rules it has, and what they hold back.

use std::collections::HashMap;

use prospect_index::page_store::Known;
use prospect_index::store::Store;
use prospect_index::visits;

use super::left_out::LeftOut;
use super::open_plans::OpenBatch;
use super::{CampaignError, stored_scope};
use crate::planner::dust::{Answered, Support, Supported, propose};
use crate::planner::spellings::SpellingRule;

/// The rules of a store, with what its pages say of them, then those that its pages propose.
///
/// # Errors
/// A segment is damaged, or another version wrote the scope.
pub(crate) fn rules(
    store: &Store,
    known: &Known,
    support: Support,
) -> Result<Vec<Supported>, CampaignError> {
    let texts: HashMap<u32, u64> = visits::texts(store, known)?.into_iter().collect();
    let page = |seq: u32| Some((known.pages.record(seq)?.0, *texts.get(&seq)?));
    let fetched = known.pages.crawled().filter_map(|(seq, url)| {
        let (_, text) = page(seq)?;
        Some((seq, Answered { url: known.urls.url(url), text, target: None }))
    });
    let moved = known.pages.redirects().iter().filter_map(|&(seq, url)| {
        let (target, text) = page(seq).filter(|_| known.pages.page_seq(url).is_none())?;
        let target = Some(known.urls.url(target));
        Some((seq, Answered { url: known.urls.url(url), text, target }))
    });
    let mut answered: Vec<(u32, Answered<'_>)> = fetched.chain(moved).collect();
    answered.sort_by_key(|(seq, _)| *seq);
    let answered: Vec<Answered<'_>> = answered.into_iter().map(|(_, answered)| answered).collect();
    Ok(propose(&answered, stored_scope(store.manifest())?.same_page(), support))
}

/// How many URLs of the frontier the next plan would not have by each of these lists of rules, since another spelling stands
/// for them.
///
/// # Errors
/// A segment is damaged, or another version wrote the scope.
pub(crate) fn held_back(
    store: &Store,
    known: &Known,
    rules: [&[SpellingRule]; 2],
) -> Result<[usize; 2], CampaignError> {
    let (manifest, open) = (store.manifest(), OpenBatch::all(store, known)?);
    let (scope, mut held) = (stored_scope(manifest)?, [0; 2]);
    for (held, rules) in held.iter_mut().zip(rules) {
        let scope = scope.clone().with_same_page(rules.to_vec());
        *held = LeftOut::of_next_plan(known, manifest, &scope, &open)?.other_spelling;
    }
    Ok(held)
}

/// Gives a store other rules.
///
/// # Errors
/// Another version wrote the scope, or a write failed: the store stays as it was.
pub(crate) fn set_rules(store: &mut Store, rules: Vec<SpellingRule>) -> Result<(), CampaignError> {
    let scope = stored_scope(store.manifest())?.with_same_page(rules).stored()?;
    if store.manifest().scope != scope {
        store.commit(|manifest| manifest.scope = scope)?;
    }
    Ok(())
}
