//! Attacks that are asked for: their settings, and the crawls of each beside those without it.

use super::config::Config;
use super::identity::WORK;
use super::progress;
use super::settings::share;
use super::{Experiment, Queries};
use crate::cli::output::{Failure, say};
use crate::policy::PolicyChoice;
use crate::results::manipulation::{AttackSummary, Manipulation};
use crate::simulate::artefacts;
use crate::simulate::attack::attacked::Attacked;
use crate::simulate::attack::summary::{AttackComparison, manipulation};
use crate::simulate::attack::{Attack, AttackError, AttackKind, AttackSettings, Victim};
use crate::simulate::experiment::{self, Course, Crawls, Inputs, Work};
use crate::simulate::load::{Keep, PagePlace};
use crate::simulate::vectors::CollectionVectors;

/// Every kind.
const ALL: &str = "all";
/// Share of the attacked collection that an attacker owns.
const SHARE: f64 = 0.01;
/// Share of the pages beyond which an attacker has the web: with nine tenths it has nine pages for each other one.
const MOST: f64 = 0.9;
const EXAMPLE: &str = "for example --attack anchor-stuffing,sybil:100, or --attack all";

/// The attacks that are asked for.
pub(super) fn settings(config: &Config) -> Result<Option<AttackSettings>, Failure> {
    let mut kinds: Vec<AttackKind> = Vec::new();
    for given in config.attack.iter().map(|given| given.trim()) {
        if given == ALL {
            kinds.extend(AttackKind::ALL);
        } else {
            let wrong = |error| Failure::input(anyhow::Error::new(error), EXAMPLE);
            kinds.push(AttackKind::parse(given).map_err(wrong)?);
        }
    }
    for (at, kind) in kinds.iter().enumerate() {
        if kinds[..at].contains(kind) {
            let error = anyhow::anyhow!("attack {} is named twice", kind.label());
            return Err(Failure::input(error, EXAMPLE));
        }
    }
    let given = config.attack_share.as_deref();
    let share = given.map_or(Ok(SHARE), |given| share("attack-share", given))?;
    if share > MOST {
        let error = anyhow::anyhow!("an attacker with {:.5} % of the pages", 100.0 * share);
        let hint = format!("--attack-share takes at most {} %", 100.0 * MOST);
        return Err(Failure::input(error, hint));
    }
    Ok((!kinds.is_empty()).then_some(AttackSettings { kinds, share }))
}

/// Crawls without an attacker, with all that they were made from.
pub(super) struct Honest<'a> {
    pub(super) inputs: &'a Inputs<'a>,
    pub(super) course: &'a Course,
    pub(super) crawls: &'a Crawls,
    /// By page: true impact over the evaluation workload.
    pub(super) impact: &'a [f64],
}

impl Experiment<'_> {
    /// The attacks on the collection, before the first crawl begins.
    pub(super) fn attacks(
        &self,
        inputs: &Inputs<'_>,
        queries: &Queries,
    ) -> Result<Vec<Attack>, Failure> {
        let Some(AttackSettings { kinds, share }) = &self.of.settings.attacks else {
            return Ok(Vec::new());
        };
        let victim = Victim {
            collection: inputs.collection,
            planning: &queries.planning,
            evaluation: &queries.evaluation,
        };
        let mut attacks = Vec::with_capacity(kinds.len());
        for &kind in kinds {
            let attack = Attack::new(kind, &victim, *share, self.of.settings.seed);
            attacks.push(attack.map_err(no_attack)?);
        }
        Ok(attacks)
    }

    /// Crawls the collection under every attack.
    pub(super) fn manipulation(
        &self,
        attacks: &[Attack],
        honest: &Honest<'_>,
    ) -> Result<Option<Manipulation>, Failure> {
        let Some(AttackSettings { share, .. }) = self.of.settings.attacks else { return Ok(None) };
        let attacks: Vec<AttackSummary> =
            attacks.iter().map(|attack| self.attacked(attack, honest)).collect::<Result<_, _>>()?;
        Ok(Some(manipulation(share, honest.course.fetchable, attacks)))
    }

    fn attacked(&self, attack: &Attack, honest: &Honest<'_>) -> Result<AttackSummary, Failure> {
        let line = format!(
            "attack {}: {} pages, linked from {} honest ones",
            attack.kind.label(),
            attack.added.pages.len(),
            attack.added.links.len()
        );
        say(self.global, &line);
        let (settings, storage) = (&self.of.settings, &self.storage);
        let folder = format!("{WORK}/attack/{}", attack.kind.folder());
        // Nothing is re-ranked or stopped under attack.
        let keep = Keep { texts: settings.lacks(), ..self.keep() };
        let place = PagePlace::below(&storage.path(&folder), keep, &self.of.config.words());
        let collection = self.load(&place, &attack.added)?.0;
        let attacked = Attacked::new(collection, honest.inputs, attack, settings.seed);
        let strings = self.strings(&attacked.collection, &folder)?;
        let vectors = self.vectors(&attacked.collection, &attacked.planning)?;
        let vectors = vectors.as_ref().map(CollectionVectors::web);
        let inputs = attacked.inputs(strings.as_ref(), vectors);
        let labels = settings.policies.iter().map(PolicyChoice::label).collect();
        let progress = progress::Policies::new(self.global, labels, settings.sets);
        let work = Work { storage, folder: &folder, experiment: self.hash };
        let course = attacked.course(honest.course);
        let crawls = experiment::run(&inputs, settings, course, work, &progress)?;
        let name = format!("attack/{}", attack.kind.folder());
        artefacts::orders(storage, &name, &attacked.collection, &settings.policies, &crawls)?;
        let comparison = AttackComparison {
            kind: attack.kind,
            attacked: &attacked,
            linked_from: attack.added.links.len(),
            crawls: &crawls,
            honest: honest.crawls,
            impact: honest.impact,
            policies: &settings.policies,
        };
        Ok(comparison.summary())
    }
}

fn no_attack(error: AttackError) -> Failure {
    let hint = match error {
        AttackError::TooSmall { .. } => "let it own more, for example --attack-share 5%",
        _ => EXAMPLE,
    };
    Failure::input(anyhow::Error::new(error), hint)
}
