//! Crawls for one query each: what they found, in the place of all other figures.

use super::{Experiment, Queries, WORK, figures};
use crate::cli::output::{Failure, say};
use crate::results::{Analyses, SCHEMA, Summary};
use crate::simulate::artefacts;
use crate::simulate::experiment::{Course, Inputs, Work};
use crate::simulate::measure;
use crate::simulate::single_query::SingleQueries;
use crate::simulate::stopping;
use crate::simulate::vectors::CollectionVectors;
use crate::workload::Workload;

/// Queries after which progress is told.
const TOLD: usize = 50;

impl Experiment<'_> {
    /// Crawls for every judged query.
    pub(super) fn single(
        &self,
        inputs: &Inputs<'_>,
        queries: &Queries,
        course: &Course,
    ) -> Result<Summary, Failure> {
        let (settings, storage) = (&self.of.settings, &self.storage);
        let work = Work { storage, folder: WORK, experiment: self.hash };
        let judged = &queries.judged.queries;
        let asked = Workload { queries: judged.iter().map(|own| own.query.clone()).collect() };
        let vectors = self.judge_vectors(inputs.collection, &asked)?;
        let vectors = vectors.as_ref().map(CollectionVectors::web);
        let singles = SingleQueries { inputs, judged, settings, course, work, vectors };
        let found = singles.run(&|done| {
            if done % TOLD == 0 || done == judged.len() {
                say(self.global, &format!("crawled for {done} of {} queries", judged.len()));
            }
        })?;
        let hash = format!("{:016x}", self.hash);
        found.csv(storage, &hash)?;
        let mut stopping = None;
        if !settings.stop.is_empty() {
            artefacts::stops_csv(storage, &found.stops, &hash)?;
            stopping = Some(stopping::summary(&settings.policies, &settings.stop, &found.stops));
        }
        let kinds = measure::kinds(inputs.collection, &queries.evaluation, judged, settings)?;
        Ok(Summary {
            schema: SCHEMA.to_owned(),
            title: self.title(),
            provenance: self.of.provenance.clone(),
            experiment: String::new(),
            commit: None,
            collection: figures(inputs, queries, &kinds, course.fetchable),
            baseline: None,
            significance: settings.significance,
            checkpoints: Vec::new(),
            kinds: Vec::new(),
            metrics: Vec::new(),
            policies: Vec::new(),
            analyses: Analyses::default(),
            ablation: None,
            time: None,
            stopping,
            single_query: Some(found.summary(settings, course)),
            sufficiency: None,
            manipulation: None,
        })
    }
}
