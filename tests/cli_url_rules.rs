//! Different URLs lead to the same page.
//!
//! Story: a shop puts a session into every link, answers with a slash at the end of a path and without, and has
//! moved to https. Its crawler fetches the same texts again and again. The store proposes what it has seen to make
//! no difference, with how often; somebody accepts some of it, and from then on each page is planned once, under
//! one of its spellings. What chooses the page is never proposed, and nothing is applied before it is accepted.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use common::{assert_sound, done, prospect, text};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Shop {
    dir: TempDir,
}

fn page(url: &str, about: &str, links: &[String]) -> Value {
    let links: Vec<Value> = links.iter().map(|to| json!({"url": to, "anchor": about})).collect();
    json!({"url": url, "title": about, "text": format!("all about {about}"), "outlinks": links})
}

impl Shop {
    /// Items 0 to 5 were fetched in several spellings, 6 to 9 are known in several.
    fn new() -> Self {
        let shop = Self { dir: tempfile::tempdir().unwrap() };
        let item = |number: usize, rest: &str| format!("https://shop.test/item/{number}{rest}");
        let links: Vec<String> = (6..10)
            .flat_map(|number| {
                ["", "/", "?sid=77", "?sid=78&size=s"].map(|rest| item(number, rest))
            })
            .chain([item(0, "?sid=79"), item(9, "/?sid=80")])
            .collect();
        let mut records = vec![page("https://shop.test/", "the shop", &links)];
        for number in 0..3 {
            let about = format!("item{number}");
            let mut moved = page(&item(number, ""), &about, &links[..4]);
            moved["requested_url"] = json!(format!("http://shop.test/item/{number}"));
            records.push(moved);
            for rest in ["/", "?sid=1", "?sid=2"] {
                records.push(page(&item(number, rest), &about, &[]));
            }
            // Another size is another page.
            for size in ["s", "l"] {
                let about = format!("item{number} in {size}");
                records.push(page(&item(number, &format!("?size={size}")), &about, &[]));
            }
        }
        let lines = records.iter().map(|record| record.to_string() + "\n").collect::<String>();
        fs::write(shop.path("pages.jsonl"), lines).unwrap();
        fs::write(shop.path("queries.tsv"), "q1\titem6 shop\nq2\titem9\n").unwrap();
        let (store, pages) = (shop.path("store"), shop.path("pages.jsonl"));
        done(&["ingest", "--store", text(&store), text(&pages)]);
        shop
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn rules(&self, options: &[&str]) -> Value {
        let store = self.path("store");
        let fixed = ["url-rules", "--json", "--store", text(&store)];
        serde_json::from_str(&done(&[&fixed[..], options].concat()).stdout).unwrap()
    }

    fn planned(&self) -> BTreeSet<String> {
        let (store, queries) = (self.path("store"), self.path("queries.tsv"));
        let options = ["--budget", "50", "--format", "urls", "--another"];
        let fixed = ["plan", "--store", text(&store), "--workload", text(&queries)];
        let said = done(&[&fixed[..], &options].concat()).stdout;
        said.lines().map(|url| url.replace("https://shop.test/item/", "")).collect()
    }
}

/// Rules of an answer, as `rule same other`; those that were accepted with a star.
fn told(found: &Value) -> Vec<String> {
    let rules = found["rules"].as_array().unwrap().iter();
    let told = rules.map(|rule| {
        let star = if rule["accepted"] == true { "*" } else { "" };
        format!("{star}{} {} {}", rule["rule"].as_str().unwrap(), rule["same"], rule["other"])
    });
    told.collect()
}

#[test]
fn what_made_no_difference_is_proposed_and_applied_when_it_is_accepted() {
    let shop = Shop::new();
    let found = shop.rules(&[]);
    assert_eq!(found["schema"], "prospect.url-rules/1");
    assert_eq!(told(&found), ["sid=@shop.test 6 0", "scheme@shop.test 3 0", "slash@shop.test 3 0"]);
    assert_eq!((&found["held_back"], &found["held_back_with_proposed"]), (&json!(0), &json!(10)));
    assert_eq!(
        found["rules"][0]["example"],
        json!(["https://shop.test/item/0", "https://shop.test/item/0?sid=1"])
    );

    let accepted = shop.rules(&["--accept", "slash@shop.test", "--accept", "sid=@shop.test"]);
    assert_eq!(
        told(&accepted),
        ["*slash@shop.test 3 0", "*sid=@shop.test 6 0", "scheme@shop.test 3 0"]
    );
    assert_eq!(accepted["held_back"], 10);
    // One spelling of each, and the other size.
    let planned = shop.planned();
    assert_eq!(planned.len(), 8, "{planned:?}");
    for number in 6..10 {
        let of = |url: &&String| url.starts_with(&number.to_string());
        let sized = planned.iter().filter(of).filter(|url| url.contains("size")).count();
        assert_eq!((planned.iter().filter(of).count(), sized), (2, 1), "{planned:?}");
    }
    let store = shop.path("store");
    // In flight is in flight, whatever the spelling.
    assert!(shop.planned().is_empty());
    let explain = |url: &str| done(&["explain", "--store", text(&store), url]).stdout;
    let told = explain("https://shop.test/item/0?sid=79");
    assert!(told.contains("another spelling of https://shop.test/item/0"), "{told}");
    let told = done(&["status", "--store", text(&store)]).stdout;
    assert!(told.contains("scope: one spelling of slash@shop.test, sid=@shop.test"), "{told}");

    let dropped = shop.rules(&["--drop", "all"]);
    assert_eq!(
        (&dropped["held_back"], dropped["rules"][0]["accepted"].as_bool()),
        (&json!(0), Some(false))
    );
    assert_eq!(shop.planned().len(), 10);
    assert_sound(&store);
}

#[test]
fn rules_may_be_given_without_evidence_and_from_a_file() {
    let shop = Shop::new();
    fs::write(shop.path("rules.txt"), "utm_source=@*\n\n;jsessionid=@shop.test\n").unwrap();
    let from = format!("@{}", text(&shop.path("rules.txt")));
    let found = shop.rules(&["--accept", &from, "--accept", "all", "--min-support", "6"]);
    assert_eq!(
        told(&found),
        ["*utm_source=@* 0 0", "*;jsessionid=@shop.test 0 0", "*sid=@shop.test 6 0"]
    );
}

#[test]
fn what_is_no_rule_is_told_with_what_is_one() {
    let shop = Shop::new();
    let store = shop.path("store");
    let refused = |options: &[&str], what: &str, hint: &str| {
        let run = prospect(&[&["url-rules", "--store", text(&store)], options].concat());
        assert_eq!(run.code, Some(1));
        assert!(run.stderr.contains(what) && run.stderr.contains(hint), "{}", run.stderr);
    };
    refused(
        &["--accept", "trailing@shop.test"],
        "`trailing@shop.test` is no rule",
        "hint: a rule is ",
    );
    refused(&["--drop", "slash@shop.test"], "the store has no rule slash@shop.test", "hint: ");
    refused(&["--min-precision", "2"], "2 is no share", "from 0 to 1");
    refused(&["--accept", "@nowhere.txt"], "nowhere.txt", "hint: ");
    let run = prospect(&["url-rules", "--store", text(&shop.path("nowhere"))]);
    assert!(run.code == Some(1) && run.stderr.contains("nowhere"), "{}", run.stderr);
}
