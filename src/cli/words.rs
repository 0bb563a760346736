//! How words are made, as options of commands that make a store or search a collection.

use prospect_index::store::Store;
use prospect_index::words::{Language, WordOptions};

use super::output::Failure;

/// Options of words.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct WordArgs {
    /// Take words for the same that have the same stem in this language, such as english or german. Like the two
    /// options below it holds for queries, texts, URLs and anchors alike.
    #[arg(long, value_name = "LANGUAGE")]
    stem: Option<Language>,
    /// Leave out the stop words of these languages.
    #[arg(long, value_name = "LANGUAGES", value_delimiter = ',', value_parser = Language::with_stop_words)]
    stop_words: Vec<Language>,
    /// Take the accents off letters, so that `école` is `ecole`.
    #[arg(long)]
    fold_accents: bool,
}

impl WordArgs {
    /// What they say.
    pub(super) fn options(&self) -> WordOptions {
        let Self { stem, stop_words, fold_accents } = self.clone();
        WordOptions::new(stem, stop_words, fold_accents)
    }

    /// Makes them those of a store that has no record yet; in another they have to be the same, or none.
    pub(super) fn keep_in(&self, store: &mut Store) -> Result<(), Failure> {
        let (given, manifest) = (self.options(), store.manifest());
        if given == manifest.words {
            return Ok(());
        }
        if manifest.next_seq > 0 {
            if given.is_plain() {
                return Ok(());
            }
            let error = anyhow::anyhow!(
                "words of this store are {}, and not {given}; it has records already",
                manifest.words
            );
            return Err(Failure::input(
                error,
                "bring the same files into a new store with these options, or leave them out",
            ));
        }
        Ok(store.commit(|manifest| manifest.words = given)?)
    }
}
