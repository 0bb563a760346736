//! Queries of six languages find what their words lead to.
//!
//! Story: somebody crawls a Chinese site, asks for a plan, and gets the URLs in the order of the alphabet, since no word of
//! the query was found in any anchor: words ended at spaces, and there were none. Somebody else crawls a German one, where
//! people ask for `Haus` and anchors say `Häuser`, and has the words of the store made alike.

mod common;

use std::fs;

use common::{done, prospect, text};
use serde_json::{Value, json};

/// A language: a query, an anchor that says the same among other words, and anchors that do not.
const LANGUAGES: [(&str, &str, &str, [&str; 3]); 8] = [
    ("Chinese", "全文搜索", "如何建立全文搜索引擎", ["天气预报", "数据库管理入门", "联系我们"]),
    (
        "Japanese",
        "検索エンジン",
        "自作の検索エンジンについて",
        ["天気予報", "データベース入門", "お問い合わせ"],
    ),
    ("Japanese, half width", "カメラ", "ﾃﾞｼﾞﾀﾙｶﾒﾗの選び方", ["天気予報", "入門", "お問い合わせ"]),
    ("Korean", "검색 엔진", "검색엔진을 만드는 방법", ["날씨 예보", "데이터베이스", "문의하기"]),
    ("Thai", "เครื่องมือค้นหา", "วิธีสร้างเครื่องมือค้นหาเว็บ", ["พยากรณ์อากาศ", "ฐานข้อมูล", "ติดต่อเรา"]),
    ("Hindi", "खोज इंजन", "अपना खोज इंजन बनाएँ", ["मौसम का हाल", "डेटाबेस", "संपर्क करें"]),
    ("Arabic", "محرك بحث", "كيف تبني محرك بحث", ["حالة الطقس", "قواعد البيانات", "اتصل بنا"]),
    (
        "French, in two spellings",
        "cafe\u{301} crème",
        "Le café crème parfait",
        ["Météo", "Base", "Contact"],
    ),
];

#[test]
fn a_query_finds_the_anchor_that_says_it() {
    for (language, query, anchor, others) in LANGUAGES {
        let dir = tempfile::tempdir().unwrap();
        let (store, pages) = (dir.path().join("store"), dir.path().join("pages.jsonl"));
        let queries = dir.path().join("queries.tsv");
        // The one that is right is the last in the order of the alphabet.
        let anchors = others.into_iter().chain([anchor]).enumerate();
        let links: Vec<Value> = anchors
            .map(|(at, anchor)| json!({"url": format!("/p{at}"), "anchor": anchor}))
            .collect();
        let page = json!({"url": "https://a.test/", "title": "-", "text": "-", "outlinks": links});
        fs::write(&pages, format!("{page}\n")).unwrap();
        fs::write(&queries, format!("q1\t{query}\t10\n")).unwrap();
        done(&["ingest", "--store", text(&store), text(&pages)]);
        let plan = ["plan", "--store", text(&store), "--workload", text(&queries), "--budget", "1"];
        let planned = done(&[&plan[..], &["--explore", "0", "--format", "urls"]].concat()).stdout;
        assert_eq!(planned, "https://a.test/p3\n", "{language}");
        // Once it is fetched it is found, and the others are not.
        let page = json!({"url": "https://a.test/p3", "title": anchor, "text": "-"});
        fs::write(&pages, format!("{page}\n")).unwrap();
        done(&["ingest", "--store", text(&store), "--close", text(&pages)]);
        let ask = ["sufficiency", "--store", text(&store), "--workload", text(&queries), "--json"];
        let found: Value = serde_json::from_str(&done(&ask).stdout).unwrap();
        // One of ten places, with all words of the query.
        let coverage = found["queries"][0]["coverage"].as_f64().unwrap();
        assert!((coverage - 0.1).abs() < 1e-9, "{language}: {coverage}");
    }
}

/// A language with stems: a query, an anchor that says it in other forms, and one that shares stop words only.
const STEMMED: [(&str, &str, &str, &str); 6] = [
    ("english", "the baking of breads", "Baked bread", "The history of the town"),
    ("german", "das Haus und der Garten", "Häuser mit Gärten", "Das Wetter und der Wind"),
    (
        "french",
        "les recettes de la boulangère",
        "Recette des boulangers",
        "Les horaires de la gare",
    ),
    ("spanish", "recetas de los panes", "Una receta para el pan", "La historia de los museos"),
    ("russian", "рецепты хлеба", "Рецепт хлеб", "Погода и новости"),
    ("finnish", "leivän ohje", "Leipien ohjeet", "Sää ja uutiset"),
];

/// A store with a page that links to an anchor as `/z` and to another as `/a`, made under these options.
fn store_of(
    folder: &std::path::Path,
    anchors: [&str; 2],
    options: &[&str],
) -> (std::path::PathBuf, std::path::PathBuf) {
    let (store, pages) = (folder.join("store"), folder.join("pages.jsonl"));
    let [right, other] = anchors;
    let links = json!([{"url": "/z", "anchor": right}, {"url": "/a", "anchor": other}]);
    let page = json!({"url": "https://a.test/", "title": "-", "text": "-", "outlinks": links});
    fs::write(&pages, format!("{page}\n")).unwrap();
    done(&[&["ingest", "--store", text(&store)][..], options, &[text(&pages)]].concat());
    (store, pages)
}

/// The first pick of a plan that draws nothing, by its candidate queries.
fn first_pick(store: &std::path::Path, queries: &std::path::Path) -> (String, u64) {
    let plan = ["plan", "--store", text(store), "--workload", text(queries), "--budget", "1"];
    let planned = done(&[&plan[..], &["--explore", "0", "--json"]].concat()).stdout;
    let planned: Value = serde_json::from_str(&planned).unwrap();
    let pick = &planned["urls"][0];
    (pick["url"].as_str().unwrap().to_owned(), planned["candidate_pairs"].as_u64().unwrap())
}

#[test]
fn stems_and_stop_words_of_a_store_hold_for_queries_and_anchors() {
    for (language, query, right, other) in STEMMED {
        let dir = tempfile::tempdir().unwrap();
        let queries = dir.path().join("queries.tsv");
        fs::write(&queries, format!("q1\t{query}\t10\n")).unwrap();
        let options = ["--stem", language, "--stop-words", language];
        let (store, _) = store_of(dir.path(), [right, other], &options);
        // What shares stop words only is no candidate.
        let found = first_pick(&store, &queries);
        assert_eq!(found, ("https://a.test/z".to_owned(), 1), "{language}");
    }
}

#[test]
fn words_of_a_store_are_chosen_before_its_first_page() {
    let dir = tempfile::tempdir().unwrap();
    let (store, pages) = store_of(dir.path(), ["École", "Gare"], &["--fold-accents"]);
    let told = done(&["status", "--store", text(&store)]).stdout;
    assert!(told.contains("\nwords: without accents\n"), "{told}");
    let queries = dir.path().join("queries.tsv");
    fs::write(&queries, "q1\tecole\t10\n").unwrap();
    assert_eq!(first_pick(&store, &queries), ("https://a.test/z".to_owned(), 1));
    // The same options may be given again, others may not.
    let again = ["ingest", "--store", text(&store), "--fold-accents", text(&pages)];
    done(&again);
    let other = prospect(&["ingest", "--store", text(&store), "--stem", "french", text(&pages)]);
    assert_eq!(other.code, Some(1));
    assert!(other.stderr.contains("words of this store are without accents, and not french stems"));
    assert!(other.stderr.contains("hint: bring the same files into a new store"));
}

#[test]
fn simulated_collections_and_searches_have_their_words_made_alike_too() {
    let dir = tempfile::tempdir().unwrap();
    let (pages, queries) = (dir.path().join("pages.jsonl"), dir.path().join("queries.tsv"));
    let page = json!({"url": "https://a.test/", "title": "Häuser", "text": "mit Gärten"});
    fs::write(&pages, format!("{page}\n")).unwrap();
    fs::write(&queries, "q1\tdas Haus und der Garten\t10\n").unwrap();
    let qrels = dir.path().join("qrels.txt");
    fs::write(&qrels, "q1 0 https://a.test/ 1\n").unwrap();
    let files = ["--corpus", text(&pages), "--workload", text(&queries), "--qrels", text(&qrels)];
    let search = [&["evaluate"][..], &files].concat();
    let found = |options: &[&str]| {
        let told = done(&[&search[..], &["--metrics", "R@10", "--json"], options].concat()).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        told["runs"][0]["means"]["R@10"].as_f64().unwrap()
    };
    let plain = prospect(&search);
    assert!(
        plain.stderr.contains("no query has both results and a relevant document"),
        "{}",
        plain.stderr
    );
    assert_eq!(found(&["--stem", "german", "--stop-words", "german"]).to_bits(), 1.0_f64.to_bits());
    let out = dir.path().join("out");
    let crawl = ["--policy", "bfs", "--seeds", "random:1", "--out", text(&out), "--stem", "german"];
    done(&[&["simulate"][..], &files, &crawl].concat());
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["provenance"]["config"]["words"], json!({"stem": "german"}));
}

#[test]
fn a_workload_of_stop_words_alone_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = store_of(dir.path(), ["Bread", "Town"], &["--stop-words", "english"]);
    let queries = dir.path().join("queries.tsv");
    fs::write(&queries, "q1\tthe of\t10\n").unwrap();
    for command in [&["plan", "--budget", "1"][..], &["sufficiency"]] {
        let ask = ["--store", text(&store), "--workload", text(&queries)];
        let refused = prospect(&[command, &ask].concat());
        assert_eq!(refused.code, Some(1), "{command:?}: {}", refused.stdout);
        assert!(refused.stderr.contains("has a word in this store"), "{}", refused.stderr);
    }
}

#[test]
fn an_ingest_that_failed_chooses_no_words() {
    let dir = tempfile::tempdir().unwrap();
    let (store, bad) = (dir.path().join("store"), dir.path().join("bad.jsonl"));
    fs::write(&bad, "{\"uri\": 1}\n").unwrap();
    let failed = prospect(&["ingest", "--store", text(&store), "--stem", "english", text(&bad)]);
    assert_eq!(failed.code, Some(1));
    store_of(dir.path(), ["Bread", "Town"], &[]);
    let told = done(&["status", "--store", text(&store)]).stdout;
    assert!(!told.contains("words:"), "{told}");
}

#[test]
fn wordings_are_compared_in_the_words_of_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let options = ["--stem", "german", "--stop-words", "german"];
    let (store, _) = store_of(dir.path(), ["Häuser mit Gärten", "Wetter"], &options);
    let [queries, variants, planned] =
        ["queries.tsv", "variants.tsv", "planned.jsonl"].map(|name| dir.path().join(name));
    fs::write(&queries, "q1\tHaus und Garten\t10\n").unwrap();
    // The first says what the query says, the second nothing.
    let wordings = ["die Häuser der Gärten", "und die", "Haus bauen", "Garten anlegen"];
    fs::write(&variants, wordings.map(|wording| format!("q1\t{wording}\n")).concat()).unwrap();
    let ask = ["sufficiency", "--store", text(&store), "--workload", text(&queries)];
    let given = ["--variants", text(&variants), "--planned-out", text(&planned)];
    done(&[&ask[..], &given].concat());
    let planned = fs::read_to_string(&planned).unwrap();
    let texts: Vec<String> = planned
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["query"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(texts[0], "Haus und Garten");
    assert!(wordings[2..].contains(&texts[1].as_str()) && texts.len() == 2, "{texts:?}");
}
