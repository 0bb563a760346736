//! Some rows of a file with all their columns, as the file has them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, DataType};
use arrow_select::filter::filter_record_batch;
use rayon::prelude::*;
use serde_json::value::RawValue;

use super::{DocumentError, object, to_json};
use crate::ingest::Origin;

/// Rows in the order of the file, and what stood between them and is no row.
#[derive(Debug)]
pub(crate) struct DocumentBatch {
    pub(super) rows: Rows,
    pub(super) places: ColumnPlaces,
    /// What could not be read.
    pub(crate) bad: Vec<BadRow>,
}

/// Rows as their format holds them.
#[derive(Debug)]
pub(super) enum Rows {
    /// Parquet.
    Columns(RecordBatch),
    /// JSON: the text of one object a row.
    Objects(Vec<Box<str>>),
    /// CSV: the cells of each row, as many as the header has.
    Cells { header: Arc<[String]>, rows: Vec<csv::StringRecord> },
}

/// Where rows stand in their file.
#[derive(Debug)]
pub(super) enum ColumnPlaces {
    /// By line, from 1.
    Lines(Arc<str>, Vec<u64>),
    /// By row, from 1; this is the first.
    Rows(Arc<str>, u64),
    /// As their reader says.
    Records(Arc<str>, Vec<Origin>),
}

/// Something that is no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadRow {
    /// Why, by a stable name.
    pub(crate) reason: &'static str,
    /// `file:line`.
    pub(crate) place: String,
    /// What was found, for people.
    pub(crate) detail: String,
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    /// Null, missing, or an empty cell of CSV.
    Null,
    /// Text.
    Text(Cow<'a, str>),
    /// Anything else, as JSON.
    Json(Cow<'a, str>),
}

impl DocumentBatch {
    /// Rows.
    pub(crate) fn len(&self) -> usize {
        match &self.rows {
            Rows::Columns(batch) => batch.num_rows(),
            Rows::Objects(rows) => rows.len(),
            Rows::Cells { rows, .. } => rows.len(),
        }
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where a row stands, for messages.
    pub(crate) fn place(&self, row: usize) -> String {
        match &self.places {
            ColumnPlaces::Lines(file, lines) => format!("{file}:{}", lines[row]),
            ColumnPlaces::Rows(file, first) => format!("{file}, row {}", first + row as u64),
            ColumnPlaces::Records(_, origins) => origins[row].to_string(),
        }
    }

    /// The values of some columns, by row; a column that a row does not have is null there.
    pub(crate) fn values(&self, columns: &[String]) -> Vec<Vec<Value<'_>>> {
        match &self.rows {
            Rows::Columns(batch) => {
                let arrays: Vec<Option<&dyn Array>> = columns
                    .iter()
                    .map(|name| batch.column_by_name(name).map(AsRef::as_ref))
                    .collect();
                let row = |row| arrays.iter().map(|array| of_array(*array, row)).collect();
                (0..batch.num_rows()).map(row).collect()
            }
            Rows::Objects(rows) => rows.par_iter().map(|text| of_object(text, columns)).collect(),
            Rows::Cells { header, rows } => {
                let places: HashMap<&String, usize> = header.iter().zip(0..).collect();
                let at: Vec<Option<usize>> =
                    columns.iter().map(|name| places.get(name).copied()).collect();
                rows.iter()
                    .map(|row| at.iter().map(|at| of_cell(at.and_then(|at| row.get(at)))).collect())
                    .collect()
            }
        }
    }

    /// The rows that are to be kept, without what is no row.
    ///
    /// # Errors
    /// Arrow refuses a column.
    pub(crate) fn filter(&self, keep: &[bool]) -> Result<Self, DocumentError> {
        let kept = |row: &usize| keep[*row];
        let at: Vec<usize> = (0..self.len()).filter(kept).collect();
        let rows = match &self.rows {
            Rows::Columns(batch) => {
                let mask = BooleanArray::from(keep.to_vec());
                let kept = filter_record_batch(batch, &mask);
                Rows::Columns(kept.map_err(|source| self.refused(source))?)
            }
            Rows::Objects(rows) => Rows::Objects(at.iter().map(|&row| rows[row].clone()).collect()),
            Rows::Cells { header, rows } => Rows::Cells {
                header: Arc::clone(header),
                rows: at.iter().map(|&row| rows[row].clone()).collect(),
            },
        };
        let places = match &self.places {
            ColumnPlaces::Lines(file, lines) => {
                ColumnPlaces::Lines(Arc::clone(file), at.iter().map(|&row| lines[row]).collect())
            }
            ColumnPlaces::Rows(file, first) => ColumnPlaces::Rows(Arc::clone(file), *first),
            ColumnPlaces::Records(file, origins) => {
                let kept = at.iter().map(|&row| origins[row].clone()).collect();
                ColumnPlaces::Records(Arc::clone(file), kept)
            }
        };
        Ok(Self { rows, places, bad: Vec::new() })
    }

    /// Arrow refuses a column.
    fn refused(&self, source: ArrowError) -> DocumentError {
        DocumentError::Arrow { path: self.file().to_owned(), rows: 0, source: Box::new(source) }
    }

    /// The file it is of.
    pub(super) fn file(&self) -> &str {
        match &self.places {
            ColumnPlaces::Lines(file, _)
            | ColumnPlaces::Rows(file, _)
            | ColumnPlaces::Records(file, _) => file,
        }
    }
}

impl Value<'_> {
    /// The number it is, if it is a finite one.
    pub(crate) fn number(&self) -> Option<f64> {
        let text = match self {
            Self::Null => return None,
            Self::Text(text) | Self::Json(text) => text.trim(),
        };
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The addresses in a list of them: texts, or objects with a `url`. A text may hold the JSON of
    /// such a list.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let (Self::Text(text) | Self::Json(text)) = self else { return Vec::new() };
        let address = |element: &&RawValue| address(element.get());
        object::elements(text).unwrap_or_default().iter().filter_map(address).collect()
    }
}

/// The address that an element of a list is or holds, which is JSON.
fn address(element: &str) -> Option<String> {
    match element.as_bytes().first() {
        Some(b'"') => serde_json::from_str(element).ok(),
        Some(b'{') => {
            let place = object::find(element, "url")?;
            serde_json::from_str(&element[place]).ok()
        }
        _ => None,
    }
}

fn of_array(array: Option<&dyn Array>, row: usize) -> Value<'_> {
    let Some(array) = array.filter(|array| array.is_valid(row)) else { return Value::Null };
    match array.data_type() {
        DataType::Utf8 => Value::Text(array.as_string::<i32>().value(row).into()),
        DataType::LargeUtf8 => Value::Text(array.as_string::<i64>().value(row).into()),
        DataType::Utf8View => Value::Text(array.as_string_view().value(row).into()),
        _ => {
            let mut json = String::new();
            to_json::push(&mut json, array, row);
            of_json(Cow::Owned(json))
        }
    }
}

fn of_object<'a>(text: &'a str, columns: &[String]) -> Vec<Value<'a>> {
    let members = object::members(text).map_or_else(|_| Vec::new(), |members| members.0);
    // Of equal keys the last counts.
    let values: HashMap<&str, &str> =
        members.iter().map(|(key, json)| (key.as_ref(), *json)).collect();
    let value = |name: &String| values.get(name.as_str()).copied();
    let value = |name| value(name).map_or(Value::Null, |json| of_json(Cow::Borrowed(json)));
    columns.iter().map(value).collect()
}

fn of_json(json: Cow<'_, str>) -> Value<'_> {
    match json.as_bytes().first() {
        Some(b'n') | None => Value::Null,
        // Half of a surrogate pair is JSON, but no text.
        Some(b'"') => match serde_json::from_str(&json) {
            Ok(text) => Value::Text(Cow::Owned(text)),
            Err(_) => Value::Json(json),
        },
        Some(_) => Value::Json(json),
    }
}

fn of_cell(cell: Option<&str>) -> Value<'_> {
    match cell {
        None | Some("") => Value::Null,
        Some(cell) => Value::Text(Cow::Borrowed(cell)),
    }
}
