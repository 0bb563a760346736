//! What `prospect sufficiency --html` writes.

use std::path::Path;

use super::print::validation_line;
use crate::campaign::CampaignError;
use crate::campaign::assessment::Decision;
use crate::campaign::assessment::view::Listed;
use crate::cli::Global;
use crate::cli::output::{self, Failure, say};
use crate::report::html;
use crate::results::sufficiency::{LackingQuery, SufficiencyPage};
use crate::sufficiency::told::{saturation_line, verdict_line, whole_line};

/// Queries that the page has, those that lack most.
const QUERIES: usize = 1000;

/// Writes the page.
pub(super) fn write(path: &Path, decision: &Decision<'_>, global: &Global) -> Result<(), Failure> {
    let page = html::sufficiency::page(&page(decision)?)?;
    output::write_file(path, |out| out.write_all(page.as_bytes()))
        .map_err(|error| output::not_written(path, error))?;
    say(global, &format!("report: {}; open it in a browser", path.display()));
    Ok(())
}

fn page(decision: &Decision<'_>) -> Result<SufficiencyPage, Failure> {
    let Decision { of, signals, verdict, .. } = decision;
    let listed = Listed { limit: QUERIES, ..Listed::default() };
    let drawn = serde_json::to_value(decision.page(&listed)).map_err(CampaignError::Settings)?;
    let note = |found| format!("Wordings that nobody planned for: {}.", validation_line(found));
    let lacking = of.by_lack().into_iter().take(QUERIES);
    Ok(SufficiencyPage {
        drawn,
        lines: vec![
            format!("Verdict: {}.", verdict_line(signals, verdict)),
            format!("The workload: {}.", whole_line(&decision.whole(), signals.theta)),
            format!("Of it: {}.", saturation_line(signals.saturation)),
        ],
        notes: of.validation.iter().map(note).collect(),
        pages: of.sufficiency.pages,
        queries: of.queries().len(),
        lacking: lacking.map(|at| lacking_query(decision, at)).collect(),
    })
}

/// The query at this place of the workload.
fn lacking_query(Decision { of, classes, .. }: &Decision<'_>, at: usize) -> LackingQuery {
    let query = &of.queries()[at];
    LackingQuery {
        query: query.text.clone(),
        frequency: query.frequency,
        sufficiency: of.judged[at],
        class: classes[at].name(),
        missing: of.sufficiency.missing[at].clone(),
    }
}
