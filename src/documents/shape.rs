//! The columns of a file of JSON or CSV and the types that hold all of their values: what a pass over
//! the file finds before it can be written in columns.
//!
//! Whole numbers within 64 bits stay whole, beyond them the column is text, so that no digit is lost;
//! whole and fractional numbers together are doubles. A column of different things is text, each
//! value as its JSON. A cell of CSV that is a JSON number, `true`, `false`, an array or an object
//! counts as such where all cells of its column do.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields};

use super::batch::{DocumentBatch, Rows};
use super::{DocumentError, DocumentSource, object};

/// Columns that are kept at most.
const COLUMNS: usize = 2_000;
/// An object with more keys is kept as text: its keys are data and no columns.
const KEYS: usize = 64;

/// Columns in the order of their first row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    pub(super) columns: Vec<(String, ShapeKind)>,
}

/// A type that holds all values of a column; every value may be null.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ShapeKind {
    Null,
    Bool,
    Whole,
    Real,
    Text,
    List(Box<ShapeKind>),
    Object(Vec<(String, ShapeKind)>),
}

/// Reads a file to its end for its columns and their types. Columns named in `text` are text,
/// whatever they look like.
///
/// # Errors
/// The file cannot be read, or has too many columns.
pub(crate) fn find(
    source: &mut dyn DocumentSource,
    text: &[String],
) -> Result<Shape, DocumentError> {
    let mut found = Vec::new();
    for column in source.columns() {
        found.push((column.clone(), ShapeKind::Null));
    }
    while let Some(batch) = source.next_batch()? {
        take_in(&mut found, &batch);
        if found.len() > COLUMNS {
            let path = source.name().to_owned();
            return Err(DocumentError::TooManyColumns { path, most: COLUMNS });
        }
    }
    for (name, kind) in &mut found {
        if text.contains(name) {
            *kind = ShapeKind::Text;
        }
    }
    Ok(Shape { columns: found })
}

fn take_in(found: &mut Vec<(String, ShapeKind)>, batch: &DocumentBatch) {
    match &batch.rows {
        Rows::Columns(_) => {}
        Rows::Objects(rows) => {
            for row in rows {
                let members = object::members(row).map_or_else(|_| Vec::new(), |members| members.0);
                let kinds =
                    members.iter().map(|(key, json)| (key.as_ref(), ShapeKind::of_json(json)));
                join(found, kinds);
            }
        }
        Rows::Cells { rows, .. } => {
            for row in rows {
                for ((_, kind), cell) in found.iter_mut().zip(row) {
                    if *kind != ShapeKind::Text {
                        *kind =
                            std::mem::replace(kind, ShapeKind::Null).with(ShapeKind::of_cell(cell));
                    }
                }
            }
        }
    }
}

/// Joins members into columns, new ones at the end.
fn join<'a>(
    columns: &mut Vec<(String, ShapeKind)>,
    members: impl Iterator<Item = (&'a str, ShapeKind)>,
) {
    for (at, (key, kind)) in members.enumerate() {
        // Rows mostly have the same keys in the same order.
        let same = columns.get(at).is_some_and(|(name, _)| name == key);
        let place = if same { Some(at) } else { columns.iter().position(|(n, _)| n == key) };
        match place {
            Some(place) => {
                let own = &mut columns[place].1;
                *own = std::mem::replace(own, ShapeKind::Null).with(kind);
            }
            None if columns.len() <= COLUMNS => columns.push((key.to_owned(), kind)),
            None => {}
        }
    }
}

impl ShapeKind {
    fn of_json(json: &str) -> Self {
        match json.as_bytes().first() {
            Some(b'n') | None => Self::Null,
            Some(b't' | b'f') => Self::Bool,
            Some(b'"') => Self::Text,
            Some(b'[') => {
                let elements = object::elements(json).unwrap_or_default();
                let kinds = elements.iter().map(|element| Self::of_json(element.get()));
                Self::List(Box::new(kinds.fold(Self::Null, Self::with)))
            }
            Some(b'{') => {
                let members = object::members(json).map_or_else(|_| Vec::new(), |m| m.0);
                let mut fields = Vec::new();
                join(&mut fields, members.iter().map(|(k, v)| (k.as_ref(), Self::of_json(v))));
                if fields.len() > KEYS { Self::Text } else { Self::Object(fields) }
            }
            Some(_) if json.parse::<i64>().is_ok() => Self::Whole,
            Some(_) if json.contains(['.', 'e', 'E']) => Self::Real,
            Some(_) => Self::Text,
        }
    }

    fn of_cell(cell: &str) -> Self {
        match cell.as_bytes() {
            [] => Self::Null,
            [b'[' | b'{' | b't' | b'f' | b'-' | b'0'..=b'9', ..]
                if cell.trim_end().len() == cell.len()
                    && serde_json::from_str::<serde::de::IgnoredAny>(cell).is_ok() =>
            {
                Self::of_json(cell)
            }
            _ => Self::Text,
        }
    }

    /// A type for the values of both.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Null, kind) | (kind, Self::Null) => kind,
            (a, b) if a == b => a,
            (Self::Whole, Self::Real) | (Self::Real, Self::Whole) => Self::Real,
            (Self::List(a), Self::List(b)) => Self::List(Box::new(a.with(*b))),
            (Self::Object(mut fields), Self::Object(more)) => {
                join(&mut fields, more.iter().map(|(key, kind)| (key.as_str(), kind.clone())));
                if fields.len() > KEYS { Self::Text } else { Self::Object(fields) }
            }
            _ => Self::Text,
        }
    }

    /// The Arrow type. Parquet has neither a type for nothing nor objects without fields.
    pub(super) fn arrow(&self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Whole => DataType::Int64,
            Self::Real => DataType::Float64,
            Self::List(kind) => DataType::List(Arc::new(element(kind))),
            Self::Object(fields) if !fields.is_empty() => DataType::Struct(object_fields(fields)),
            Self::Null | Self::Text | Self::Object(_) => DataType::Utf8,
        }
    }
}

/// The element of a list, named as the Parquet format names it.
pub(super) fn element(kind: &ShapeKind) -> Field {
    Field::new("element", kind.arrow(), true)
}

pub(super) fn object_fields(fields: &[(String, ShapeKind)]) -> Fields {
    fields.iter().map(|(name, kind)| Field::new(name, kind.arrow(), true)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[&str], expected: &str) {
        let kind = values
            .iter()
            .map(|json| ShapeKind::of_json(json))
            .fold(ShapeKind::Null, ShapeKind::with);
        assert_eq!(kind.arrow().to_string(), expected, "{values:?}");
    }

    #[test]
    fn a_type_holds_every_value_without_loss() {
        check(&["1", "null", "-9223372036854775808"], "Int64");
        check(&["1", "9223372036854775808"], "Utf8");
        check(&["1", "2.5"], "Float64");
        check(&["1", "\"1\""], "Utf8");
        check(&["true", "null"], "Boolean");
        check(&["null", "{}"], "Utf8");
        check(&["[]", "[1]", "[2.5, null]"], "List(Float64, field: 'element')");
        check(&["[\"a\"]", "[[1]]"], "List(Utf8, field: 'element')");
        check(
            &["{\"a\":1}", "{\"b\":[true],\"a\":null}"],
            "Struct(\"a\": Int64, \"b\": List(Boolean, field: 'element'))",
        );
    }

    #[test]
    fn cells_are_what_json_would_take_them_for() {
        for (cell, expected) in [
            ("", ShapeKind::Null),
            ("12", ShapeKind::Whole),
            ("007", ShapeKind::Text),
            ("+1", ShapeKind::Text),
            ("1 ", ShapeKind::Text),
            ("1.50", ShapeKind::Real),
            ("true", ShapeKind::Bool),
            ("True", ShapeKind::Text),
            ("[\"a\"]", ShapeKind::List(Box::new(ShapeKind::Text))),
            ("[see above]", ShapeKind::Text),
        ] {
            assert_eq!(ShapeKind::of_cell(cell), expected, "{cell:?}");
        }
    }
}
