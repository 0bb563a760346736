//! What an experiment was made from and what its words mean, as HTML: enough to run it again and to
//! read every figure.

use crate::report::glossary;
use crate::report::number::thousands;
use crate::results::Summary;
use crate::web::{escape, isolated};

pub(super) fn provenance(summary: &Summary) -> Result<String, serde_json::Error> {
    let made = &summary.provenance;
    let mut out = String::from("<table class=\"facts\">\n");
    let checkpoints: Vec<String> =
        summary.checkpoints.iter().map(|&pages| thousands(pages.into())).collect();
    let rankings = glossary::rankings(made).map(|rankings| {
        let fingerprint = made.reranker.as_ref().map_or("", |reranker| &reranker.fingerprint);
        ("rankings", format!("{} <code>{}</code>", isolated(&rankings), escape(fingerprint)))
    });
    let facts = [
        ("Prospect", escape(&summary.made_by())),
        ("experiment", format!("<code>{}</code>", escape(summary.name()))),
        ("configuration", format!("<code>{}</code>", escape(&made.config_hash))),
        ("seed", made.seed.to_string()),
        ("BM25", format!("k1 = {}, b = {}", made.k1, made.b)),
        ("results", escape(&glossary::lists(made.k, made.visibility.as_deref()))),
        ("level of significance", summary.significance.to_string()),
        ("checkpoints, pages fetched", checkpoints.join(" · ")),
    ];
    let embedding = made.embedding.as_ref().map(|model| {
        let (name, fingerprint) = (isolated(&model.name), escape(&model.fingerprint));
        ("embeddings", format!("{name} <code>{fingerprint}</code>"))
    });
    for (name, value) in facts.into_iter().chain(rankings).chain(embedding) {
        out += &format!("<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>\n");
    }
    out += "</table>\n";
    out += &inputs(summary);
    out += &format!(
        "<details><summary>The configuration in full</summary>\n<pre tabindex=\"0\">{}</pre></details>\n",
        escape(&serde_json::to_string_pretty(&made.config)?)
    );
    out += "<h4>Metrics</h4>\n<dl>\n";
    for name in &summary.metrics {
        let meaning =
            glossary::metric(name).unwrap_or("This version of the report has no word on it.");
        out += &format!("<dt>{}</dt><dd>{}</dd>\n", isolated(name), escape(meaning));
    }
    out += "</dl>\n<h4>Tests and intervals</h4>\n";
    for paragraph in glossary::tests(summary) {
        out += &format!("<p>{}</p>\n", escape(&paragraph));
    }
    out += "<h4>What the figures do not say</h4>\n<ul>\n";
    for caveat in glossary::caveats(summary) {
        out += &format!("<li>{}</li>\n", escape(&caveat));
    }
    Ok(out + "</ul>\n")
}

fn inputs(summary: &Summary) -> String {
    let mut out = String::from(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Inputs\"><table>\n\
         <caption>Inputs</caption>\n<thead><tr><th scope=\"col\">role</th>\
         <th scope=\"col\" class=\"text\">file</th><th scope=\"col\">bytes</th><th scope=\"col\">XXH3</th></tr></thead>\n<tbody>\n",
    );
    for input in &summary.provenance.inputs {
        out += &format!(
            "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td><td>{}</td><td><code>{}</code></td></tr>\n",
            escape(&input.role),
            isolated(&input.name),
            thousands(input.bytes),
            escape(&input.xxh3),
        );
    }
    out + "</tbody></table></div>\n"
}
