//! The elements of one JSON array as rows.

use prospect_index::limits;

use super::DocumentError;
use super::objects::{JsonToken, Texts};
use super::text_stream::TextStream;
use crate::ingest::json_array::{ArrayError, Element, JsonArray};

pub(super) struct JsonElements {
    stream: TextStream,
    array: JsonArray,
}

impl JsonElements {
    pub(super) fn new(mut stream: TextStream) -> Result<Self, DocumentError> {
        let opened = JsonArray::open(&mut stream.reader).map_err(|error| stream.error(1, error))?;
        let Some(array) = opened else {
            let path = stream.name.to_string();
            return Err(if stream.is_at_end()? {
                DocumentError::Empty { path }
            } else {
                let found = "something else".to_owned();
                DocumentError::WrongFormat { path, expected: "a JSON array", found }
            });
        };
        Ok(Self { stream, array })
    }
}

impl Texts for JsonElements {
    const MAY_BE_EMPTY: bool = true;

    fn next(&mut self) -> Result<JsonToken, DocumentError> {
        let mut text = Vec::new();
        let Self { stream, array } = self;
        match array.next(&mut stream.reader, limits::BOUNDS.line_bytes, &mut text) {
            Ok(Element::Whole(line)) => Ok(JsonToken::Text(text, line)),
            Ok(Element::TooLong(line, _)) => Ok(JsonToken::TooLong(line)),
            Ok(Element::End) => Ok(JsonToken::End),
            Err(ArrayError::Io(error)) => Err(stream.error(array.line, error)),
            Err(ArrayError::Fault(what)) => {
                let (path, elements) = (stream.name.to_string(), array.elements);
                Err(DocumentError::Array { path, line: array.line, what, elements })
            }
        }
    }

    fn stream(&self) -> &TextStream {
        &self.stream
    }
}
