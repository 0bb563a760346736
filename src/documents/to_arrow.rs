//! JSON values and cells of CSV as Arrow arrays of a type that was found before.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, Schema};
use csv::StringRecord;

use super::batch::Rows;
use super::object;
use super::shape::{Shape, ShapeKind, element, object_fields};

/// The rows in columns.
///
/// # Errors
/// A value does not fit its column: the file is not what it was when its shape was found.
pub(super) fn columns(rows: &Rows, shape: &Shape) -> Result<RecordBatch, ArrowError> {
    let schema = Arc::new(Schema::new(object_fields(&shape.columns)));
    let arrays = match rows {
        Rows::Columns(batch) => return Ok(batch.clone()),
        Rows::Objects(rows) => {
            of_objects(rows.iter().map(|row| Some(row.as_ref())), &shape.columns)?
        }
        Rows::Cells { rows, .. } => {
            let columns = shape.columns.iter().enumerate();
            columns.map(|(at, (_, kind))| of_cells(rows, at, kind)).collect::<Result<_, _>>()?
        }
    };
    RecordBatch::try_new(schema, arrays)
}

/// The cells of a column; empty ones are missing.
fn of_cells(rows: &[StringRecord], at: usize, kind: &ShapeKind) -> Result<ArrayRef, ArrowError> {
    let cells: Vec<Option<&str>> =
        rows.iter().map(|row| row.get(at).filter(|cell| !cell.is_empty())).collect();
    match kind {
        // A cell of text is the text itself.
        ShapeKind::Text | ShapeKind::Null => Ok(Arc::new(StringArray::from(cells)) as ArrayRef),
        _ => array(kind, &cells),
    }
}

/// Values as an array; each is JSON, or missing.
fn array(kind: &ShapeKind, values: &[Option<&str>]) -> Result<ArrayRef, ArrowError> {
    let values: Vec<Option<&str>> =
        values.iter().map(|value| value.filter(|json| *json != "null")).collect();
    Ok(match kind {
        ShapeKind::Bool => {
            Arc::new(values.iter().copied().map(parsed).collect::<Result<BooleanArray, _>>()?)
        }
        ShapeKind::Whole => {
            Arc::new(values.iter().copied().map(parsed).collect::<Result<Int64Array, _>>()?)
        }
        ShapeKind::Real => {
            Arc::new(values.iter().copied().map(parsed).collect::<Result<Float64Array, _>>()?)
        }
        ShapeKind::List(kind) => list(kind, &values)?,
        ShapeKind::Object(fields) if !fields.is_empty() => {
            let arrays = of_objects(values.iter().copied(), fields)?;
            let nulls: NullBuffer = values.iter().map(Option::is_some).collect::<Vec<_>>().into();
            Arc::new(StructArray::try_new(object_fields(fields), arrays, Some(nulls))?)
        }
        ShapeKind::Null | ShapeKind::Text | ShapeKind::Object(_) => {
            Arc::new(values.iter().map(|value| value.map(text)).collect::<StringArray>())
        }
    })
}

fn list(kind: &ShapeKind, values: &[Option<&str>]) -> Result<ArrayRef, ArrowError> {
    let mut elements: Vec<Option<&str>> = Vec::new();
    let mut lengths = Vec::with_capacity(values.len());
    for value in values {
        let list = match value {
            Some(json) => object::elements(json).map_err(|error| misfit(json, &error))?,
            None => Vec::new(),
        };
        lengths.push(list.len());
        elements.extend(list.iter().map(|element| Some(element.get())));
    }
    let nulls: NullBuffer = values.iter().map(Option::is_some).collect::<Vec<_>>().into();
    let offsets = OffsetBuffer::from_lengths(lengths);
    let items = array(kind, &elements)?;
    Ok(Arc::new(ListArray::try_new(Arc::new(element(kind)), offsets, items, Some(nulls))?))
}

/// The columns of objects; one that a row lacks is null there.
fn of_objects<'a>(
    rows: impl Iterator<Item = Option<&'a str>>,
    fields: &[(String, ShapeKind)],
) -> Result<Vec<ArrayRef>, ArrowError> {
    let mut columns: Vec<Vec<Option<&str>>> = vec![Vec::new(); fields.len()];
    for row in rows {
        for column in &mut columns {
            column.push(None);
        }
        let Some(json) = row else { continue };
        let members = object::members(json).map_err(|error| misfit(json, &error))?;
        for (at, (key, value)) in members.0.into_iter().enumerate() {
            let same = fields.get(at).is_some_and(|(name, _)| *name == key);
            let place = if same { Some(at) } else { fields.iter().position(|(n, _)| *n == key) };
            let Some(place) = place else {
                return Err(ArrowError::ParseError(format!("a new key {key:?}")));
            };
            if let Some(last) = columns[place].last_mut() {
                *last = Some(value);
            }
        }
    }
    fields.iter().zip(&columns).map(|((_, kind), values)| array(kind, values)).collect()
}

fn parsed<T: std::str::FromStr>(value: Option<&str>) -> Result<Option<T>, ArrowError>
where
    T::Err: std::fmt::Display,
{
    let parse = |json: &str| json.parse().map_err(|error| misfit(json, &error));
    value.map(parse).transpose()
}

/// What a JSON string says; anything else as its JSON.
fn text(json: &str) -> String {
    let said = json.starts_with('"').then(|| serde_json::from_str(json).ok()).flatten();
    said.unwrap_or_else(|| json.to_owned())
}

fn misfit(json: &str, error: &dyn std::fmt::Display) -> ArrowError {
    let start: String = json.chars().take(40).collect();
    ArrowError::ParseError(format!("{start:?}: {error}"))
}
