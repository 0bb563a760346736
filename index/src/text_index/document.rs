//! A document of the text index: its fields, the searched text, and how that is cut into words.
//! Not responsible for which documents there are.

use tantivy::TantivyDocument;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};

use crate::page_store::PageText;
use crate::words::Analyzer;

/// Name under which an index knows its [`Analyzer`].
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
pub(super) fn document(fields: Fields, analyzer: &Analyzer, page: &PageText) -> TantivyDocument {
    let text = searched_text(&page.title, &page.text);
    let mut length = 0u64;
    analyzer.for_each_word(&text, |_| length += 1);
    let mut document = TantivyDocument::default();
    document.add_u64(fields.url_id, u64::from(page.url.0));
    document.add_u64(fields.seq, u64::from(page.seq));
    document.add_u64(fields.length, length);
    document.add_text(fields.body, text);
    document
}
