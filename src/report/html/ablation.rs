//! An ablation as HTML tables. They need no script, which makes their columns sortable.

use super::tables::cell;
use crate::report::ablation::{FIGURES, MEANING, as_of, rows};
use crate::results::Summary;
use crate::results::ablation::AblatedPolicy;
use crate::web::{escape, isolated};

/// A table a policy; nothing where nothing was left out.
pub(super) fn tables(summary: &Summary) -> String {
    let Some(ablation) = &summary.ablation else { return String::new() };
    let mut out = format!("<p class=\"caption\">{MEANING}</p>\n");
    for policy in &ablation.policies {
        out += &table(policy, &as_of(ablation));
    }
    out
}

fn table(policy: &AblatedPolicy, as_of: &str) -> String {
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Ablation\">\
         <table class=\"sortable\">\n<caption>Ablation of {}, {as_of}</caption>\n<thead><tr>\
         <th scope=\"col\">without</th>",
        isolated(&policy.policy)
    );
    for figure in &FIGURES {
        out += &format!("<th scope=\"col\">{}</th>", figure.heading);
    }
    out += "<th scope=\"col\">what it is</th></tr></thead>\n<tbody>\n";
    for (at, (name, meaning, figures)) in rows(policy).into_iter().enumerate() {
        out += &format!("<tr><th scope=\"row\" data-sort=\"{at}\">{}</th>", isolated(name));
        for figure in &FIGURES {
            out += &cell((figure.of)(figures), figure.places, None);
        }
        out += &format!("<td data-sort=\"{}\">{}</td></tr>\n", escape(meaning), escape(meaning));
    }
    out + "</tbody>\n</table></div>\n"
}
