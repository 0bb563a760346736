//! Making words alike: stop lists, stems, accents.
//!
//! [`crate::words`] cuts texts into words; here some of them are left out or changed, alike for queries, texts, URLs and
//! anchors, by the filters of Tantivy: stop words are left out, then stems are taken (Snowball), then accents off. Without
//! an option, which is the default, words stay as they were cut.

use std::fmt;
use std::str::FromStr;

use serde::de::IntoDeserializer;
use serde::de::value::{Error as NoLanguage, StrDeserializer};
use serde::{Deserialize, Serialize};
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language as Snowball, Stemmer, StopWordFilter, TextAnalyzer, Token,
    TokenStream, Tokenizer,
};

use super::for_each_word;

/// Languages that there are stems for, in the order of their names.
pub(crate) const LANGUAGES: [&str; 18] = [
    "arabic",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "greek",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
];

/// A language with a stemmer, by its place among [`LANGUAGES`].
///
/// ```
/// use prospect_index::words::Language;
///
/// let german: Language = "german".parse()?;
/// assert_eq!(Language::with_stop_words("german"), Ok(german));
/// assert!("klingon".parse::<Language>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct Language(u8);

impl FromStr for Language {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let place = LANGUAGES.iter().position(|known| known.eq_ignore_ascii_case(name));
        place.map(|at| Self(at as u8)).ok_or_else(|| {
            let known = LANGUAGES.join(", ");
            format!("{name:?} is no language whose words are known here; there are {known}")
        })
    }
}

impl TryFrom<String> for Language {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

impl From<Language> for &'static str {
    fn from(language: Language) -> Self {
        language.name()
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Language {
    fn name(self) -> &'static str {
        LANGUAGES[usize::from(self.0)]
    }

    /// A language that has a list of stop words.
    ///
    /// # Errors
    /// It has none, or is not known; which have one is told.
    pub fn with_stop_words(name: &str) -> Result<Self, String> {
        let all = (0..LANGUAGES.len()).map(|at| Self(at as u8));
        let listed: Vec<Self> = all.filter(|language| language.stop_words().is_some()).collect();
        let found = listed.iter().find(|language| language.name().eq_ignore_ascii_case(name));
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = listed.iter().map(|language| language.name()).collect();
            format!(
                "there is no list of stop words for {name:?}; there are lists for {}",
                names.join(", ")
            )
        })
    }

    fn stop_words(self) -> Option<StopWordFilter> {
        StopWordFilter::new(self.snowball()?)
    }

    /// Tantivy's name of it, which is ours with a capital.
    fn snowball(self) -> Option<Snowball> {
        let (first, rest) = self.name().split_at(1);
        let name = format!("{}{rest}", first.to_ascii_uppercase());
        let name: StrDeserializer<'_, NoLanguage> = name.as_str().into_deserializer();
        Snowball::deserialize(name).ok()
    }
}

/// What is done to words beyond cutting them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WordOptions {
    /// Words become the stems of this language.
    #[serde(skip_serializing_if = "Option::is_none")]
    stem: Option<Language>,
    /// Words on the stop lists of these languages are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_words: Vec<Language>,
    /// Letters lose their accents.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    fold_accents: bool,
}

impl WordOptions {
    /// Stems of a language, no stop words of others, and accents or none.
    pub fn new(stem: Option<Language>, mut stop_words: Vec<Language>, fold_accents: bool) -> Self {
        stop_words.sort_unstable();
        stop_words.dedup();
        Self { stem, stop_words, fold_accents }
    }

    /// Whether words stay as they were cut.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// For people: `german stems, german and english stop words, no accents`.
impl fmt::Display for WordOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.stem.map(|language| format!("{language} stems")));
        if !self.stop_words.is_empty() {
            let languages: Vec<&str> =
                self.stop_words.iter().map(|language| language.name()).collect();
            parts.push(format!("without {} stop words", languages.join(" and ")));
        }
        parts.extend(self.fold_accents.then(|| "without accents".to_owned()));
        if parts.is_empty() {
            parts.push("as they are cut".to_owned());
        }
        f.write_str(&parts.join(", "))
    }
}

/// Cuts texts into words under [`WordOptions`].
///
/// ```
/// use prospect_index::words::{Analyzer, WordOptions};
///
/// let english = "english".parse()?;
/// let analyzer = Analyzer::from(&WordOptions::new(Some(english), vec![english], true));
/// assert_eq!(analyzer.words("The cafés of running bakers"), ["cafe", "run", "baker"]);
/// assert_eq!(Analyzer::default().words("The cafés"), ["the", "cafés"]);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Default)]
pub struct Analyzer {
    options: WordOptions,
    /// None where words stay as they were cut.
    filtered: Option<TextAnalyzer>,
}

impl fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Analyzer").field(&self.options).finish()
    }
}

/// An analyzer under these options.
impl From<&WordOptions> for Analyzer {
    fn from(options: &WordOptions) -> Self {
        let options = options.clone();
        if options.is_plain() {
            return Self::default();
        }
        let mut built = TextAnalyzer::builder(Words::default()).dynamic();
        for stop_words in options.stop_words.iter().filter_map(|language| language.stop_words()) {
            built = built.filter_dynamic(stop_words);
        }
        if let Some(language) = options.stem.and_then(Language::snowball) {
            built = built.filter_dynamic(Stemmer::new(language));
        }
        if options.fold_accents {
            built = built.filter_dynamic(AsciiFoldingFilter);
        }
        Self { options, filtered: Some(built.build()) }
    }
}

impl Analyzer {
    /// Its options.
    pub fn options(&self) -> &WordOptions {
        &self.options
    }

    /// Calls `take` with every word of `text` in order.
    pub fn for_each_word(&self, text: &str, mut take: impl FnMut(&str)) {
        let Some(filtered) = &self.filtered else { return for_each_word(text, take) };
        // A stream needs its own.
        let mut filtered = filtered.clone();
        let mut words = filtered.token_stream(text);
        while words.advance() {
            let word = words.token().text.as_str();
            if !word.is_empty() {
                take(word);
            }
        }
    }

    /// The words of `text` in order.
    pub fn words(&self, text: &str) -> Vec<String> {
        let mut out = Vec::new();
        self.for_each_word(text, |word| out.push(word.to_owned()));
        out
    }

    /// It as a tokenizer of Tantivy.
    pub(crate) fn tokenizer(&self) -> TextAnalyzer {
        TextAnalyzer::from(Words { analyzer: self.clone(), ..Words::default() })
    }
}

/// The words of an analyzer as tokens of Tantivy.
#[derive(Clone, Default)]
struct Words {
    analyzer: Analyzer,
    text: String,
    ends: Vec<usize>,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        let Self { analyzer, text: words, ends } = self;
        words.clear();
        ends.clear();
        analyzer.for_each_word(text, |word| {
            words.push_str(word);
            ends.push(words.len());
        });
        WordStream { words: self, next: 0, token: Token::default() }
    }
}

struct WordStream<'a> {
    words: &'a Words,
    next: usize,
    token: Token,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(&end) = self.words.ends.get(self.next) else { return false };
        let start = if self.next == 0 { 0 } else { self.words.ends[self.next - 1] };
        self.token.text.clear();
        self.token.text.push_str(&self.words.text[start..end]);
        self.token.position = self.next;
        self.token.offset_from = start;
        self.token.offset_to = end;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stem: &str, stop_words: &[&str], fold_accents: bool) -> Analyzer {
        let language = |name: &str| name.parse().unwrap();
        let stem = (!stem.is_empty()).then(|| language(stem));
        let stop_words = stop_words.iter().map(|name| language(name)).collect();
        Analyzer::from(&WordOptions::new(stem, stop_words, fold_accents))
    }

    /// As the stemmers of Snowball 3.1 have them.
    #[test]
    fn words_of_six_languages_are_made_alike() {
        let cases = [
            ("english", "The running bakers' ovens", "run baker oven"),
            ("german", "Die Häuser und das Haus", "haus haus"),
            ("french", "Les recettes de l'école française", "recet écol franc"),
            ("spanish", "Los panes de las panaderías", "pan panad"),
            ("russian", "Рецепты хлеба и рецепт", "рецепт хлеб рецепт"),
            ("finnish", "Leipien ja leivän", "leip leivä"),
        ];
        for (language, text, expected) in cases {
            assert_eq!(of(language, &[language], false).words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn accents_are_folded_behind_stems_and_scripts_without_them_stay() {
        let folded = of("french", &["french"], true);
        assert_eq!(folded.words("école Ecole").join(" "), "ecol ecol");
        let plain = of("", &[], true);
        assert_eq!(
            plain.words("Straße Ærø 全文検索 хлеб").join(" "),
            "strasse aero 全文 文検 検索 хлеб"
        );
    }

    #[test]
    fn stop_words_of_several_languages_are_left_out() {
        let both = of("", &["german", "english"], false);
        assert_eq!(both.words("the bread and das Brot").join(" "), "bread brot");
        assert!(both.words("to be or not to be").is_empty());
    }

    #[test]
    fn every_language_that_is_named_has_its_stemmer() {
        for name in LANGUAGES {
            assert!(name.parse::<Language>().unwrap().snowball().is_some(), "{name}");
        }
        assert_eq!(
            LANGUAGES.iter().filter(|name| Language::with_stop_words(name).is_ok()).count(),
            13
        );
    }

    #[test]
    fn options_are_stored_by_what_is_not_the_default() {
        let options = of("german", &["german"], true).options().clone();
        let json = serde_json::to_string(&options).unwrap();
        assert_eq!(json, r#"{"stem":"german","stop_words":["german"],"fold_accents":true}"#);
        assert_eq!(serde_json::from_str::<WordOptions>(&json).unwrap(), options);
        assert_eq!(serde_json::to_string(&WordOptions::default()).unwrap(), "{}");
        assert!(serde_json::from_str::<WordOptions>(r#"{"stem":"klingon"}"#).is_err());
    }
}
