//! What the local page is made of. Charts, themes and the way that names of others enter a page are those of
//! all pages.

use crate::web;

/// The page itself, which loads the two below and nothing else.
pub(super) fn html() -> String {
    let own =
        "<link rel=\"stylesheet\" href=\"app.css\">\n<script src=\"app.js\" defer></script>\n";
    web::head("Prospect: what if", own) + include_str!("assets/body.html")
}

/// Its style.
pub(super) fn style() -> String {
    web::style(include_str!("assets/app.css"))
}

/// Its script.
pub(super) fn script() -> String {
    web::script(&[
        web::BARS,
        web::PLANS,
        web::TABLES,
        web::LISTS,
        web::SUFFICIENCY,
        include_str!("assets/api.js"),
        include_str!("assets/scenario.js"),
        include_str!("assets/address.js"),
        include_str!("assets/names.js"),
        include_str!("assets/slider.js"),
        include_str!("assets/workload.js"),
        include_str!("assets/hosts.js"),
        include_str!("assets/controls.js"),
        include_str!("assets/files.js"),
        include_str!("assets/summary.js"),
        include_str!("assets/changes.js"),
        include_str!("assets/frontier.js"),
        include_str!("assets/enough.js"),
        include_str!("assets/explain.js"),
        include_str!("assets/tabs.js"),
        include_str!("assets/app.js"),
    ])
}
