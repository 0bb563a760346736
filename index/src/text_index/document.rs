//! A document of the text index: its fields, the searched text, and how that is cut into words.
//! Not responsible for which documents there are.

use tantivy::TantivyDocument;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::page_store::PageText;
use crate::words;

/// Name under which an index knows [`Words`].
pub(super) const TOKENIZER: &str = "prospect-words";

/// The fields of the schema.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    pub(crate) url_id: Field,
    pub(crate) seq: Field,
    pub(crate) length: Field,
    pub(crate) body: Field,
}

pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let number = NumericOptions::default() | FAST;
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(false);
    let fields = Fields {
        url_id: builder.add_u64_field("url_id", number.clone()),
        seq: builder.add_u64_field("seq", number.clone()),
        length: builder.add_u64_field("length", number),
        body: builder.add_text_field("body", TextOptions::default().set_indexing_options(indexing)),
    };
    (builder.build(), fields)
}

/// The text that is searched: title, space, text.
pub(crate) fn searched_text(title: &str, text: &str) -> String {
    format!("{title} {text}")
}

/// A document length as Tantivy keeps it: the largest of its 256 lengths that is not above.
pub(crate) fn rounded_length(length: u32) -> u32 {
    FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(length))
}

/// The document of a page.
pub(super) fn document(fields: Fields, page: &PageText) -> TantivyDocument {
    let text = searched_text(&page.title, &page.text);
    let mut length = 0u64;
    words::for_each_word(&text, |_| length += 1);
    let mut document = TantivyDocument::default();
    document.add_u64(fields.url_id, u64::from(page.url.0));
    document.add_u64(fields.seq, u64::from(page.seq));
    document.add_u64(fields.length, length);
    document.add_text(fields.body, text);
    document
}

/// The rule of [`words`] as a tantivy tokenizer.
#[derive(Clone, Default)]
pub(super) struct Words {
    text: String,
    ends: Vec<usize>,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.text.clear();
        self.ends.clear();
        words::for_each_word(text, |word| {
            self.text.push_str(word);
            self.ends.push(self.text.len());
        });
        WordStream { words: self, next: 0, token: Token::default() }
    }
}

pub(super) struct WordStream<'a> {
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
