//! Queries of six languages find what their words lead to.
//!
//! Story: somebody crawls a Chinese site, asks for a plan, and gets the URLs in the order of the alphabet, since no word of
//! the query was found in any anchor: words ended at spaces, and there were none.

mod common;

use std::fs;

use common::{done, text};
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
