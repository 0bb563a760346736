//! One URL a line, as every crawler reads seeds.

use super::{PlanFormat, without_blanks};

pub(super) const FORMAT: PlanFormat = PlanFormat {
    name: "urls",
    description: "one URL a line: what wget -i, seed lists and most crawlers read",
    write: |out, batch| {
        batch.urls.iter().try_for_each(|url| writeln!(out, "{}", without_blanks(&url.url)))
    },
};
