//! Claims about `model.toml`.

use super::*;

fn parse(text: &'static str) -> Result<ModelSettings, String> {
    let part = ModelFile { name: "m/model.toml".into(), bytes: text.as_bytes().into() };
    ModelSettings::parse(&part).map_err(|error| error.to_string())
}

#[test]
fn defaults_are_those_of_the_format() {
    let text = "format = 1\nname = \"q\"\nkind = \"t5-true-false\"\nmax_tokens = 512";
    let settings = parse(text).unwrap();
    let (before, after) = ("Document: ".to_owned(), " Relevant:".to_owned());
    assert_eq!(settings.kind, ModelKind::T5 { before, after, truncation: Truncation::Text });
    assert_eq!((settings.max_tokens, settings.pad_id), (512, 0));
    let text = "format = 1\nname = \"q\"\nkind = \"sequence-pair\"\nmax_tokens = 512";
    let windows = Windows { passage_tokens: 225, stride_tokens: 200, max_passages: 8 };
    assert_eq!(parse(text).unwrap().kind, ModelKind::Pair { positive: None, windows });
}

#[test]
fn what_does_not_fit_is_refused_with_its_name() {
    let cases = [
        ("format = 2", "format is 2; this prospect reads 1"),
        ("format = 1\nmax_tokens = 7", "max_tokens is 7; expected 8 to 4096"),
        ("format = 1\npooling = \"mean\"", "pooling is no setting of this kind of model"),
        ("format = 1\nwords = 3", "unknown field `words`"),
        ("format = 1\nprompt = \"x\"", "prompt is \"x\"; expected {text} in it"),
    ];
    for (text, expected) in cases {
        let mut text = format!("{text}\nname = \"q\"\nkind = \"t5-true-false\"\n");
        if !text.contains("max_tokens") {
            text.push_str("max_tokens = 512");
        }
        let found = parse(text.leak()).unwrap_err();
        assert!(found.contains(expected), "{found}");
        assert!(found.starts_with("m/model.toml: "), "{found}");
    }
}
