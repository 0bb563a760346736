//! Lines of Heritrix's frontier journal: in the action directory of a job, as a file that ends in `.schedule`,
//! they are put into its queues. Every line of such a file is taken for a URI, whatever it begins with.

use super::{PlanFormat, without_blanks};

pub(super) const FORMAT: PlanFormat = PlanFormat {
    name: "heritrix",
    description: "F+ lines, for a file NAME.schedule in a job's action directory",
    write: |out, batch| {
        batch.urls.iter().try_for_each(|url| writeln!(out, "F+ {}", without_blanks(&url.url)))
    },
};
