//! What the local page is made of, put together when the command is compiled. Charts, themes and the
//! way that names of others enter a page are those of the reports.

/// The page itself, which loads the two below and nothing else.
pub(super) const HTML: &str = include_str!("assets/index.html");

/// Its style: that of reports, then its own.
pub(super) const STYLE: &str =
    concat!(include_str!("../report/assets/report.css"), include_str!("assets/app.css"));

/// Its script, in one scope.
pub(super) const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../report/assets/dom.js"),
    include_str!("../report/assets/axes.js"),
    include_str!("../report/assets/figure.js"),
    include_str!("../report/assets/lines.js"),
    include_str!("../report/assets/theme.js"),
    include_str!("../report/assets/bars.js"),
    include_str!("../report/assets/plans.js"),
    include_str!("assets/api.js"),
    include_str!("assets/scenario.js"),
    include_str!("assets/tables.js"),
    include_str!("assets/slider.js"),
    include_str!("assets/workload.js"),
    include_str!("assets/hosts.js"),
    include_str!("assets/controls.js"),
    include_str!("assets/files.js"),
    include_str!("assets/summary.js"),
    include_str!("assets/changes.js"),
    include_str!("assets/frontier.js"),
    include_str!("assets/explain.js"),
    include_str!("assets/tabs.js"),
    include_str!("assets/app.js"),
    "})();\n"
);
