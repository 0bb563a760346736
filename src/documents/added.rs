//! The one column that is added to documents, or that replaces one of its name.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array};
use arrow_schema::{DataType, Field};

/// Name and type of the column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AddedColumn {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: AddedKind,
}

/// Type of the column; all of them may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddedKind {
    /// `DOUBLE`.
    Number,
    /// `INT32`.
    Whole,
}

/// Its values for the rows of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AddedField<'a> {
    /// For [`AddedKind::Number`]; finite.
    Numbers(&'a [Option<f64>]),
    /// For [`AddedKind::Whole`].
    Wholes(&'a [Option<i32>]),
}

impl AddedColumn {
    pub(super) fn field(&self) -> Field {
        let kind = match self.kind {
            AddedKind::Number => DataType::Float64,
            AddedKind::Whole => DataType::Int32,
        };
        Field::new(&self.name, kind, true)
    }
}

impl AddedField<'_> {
    pub(super) fn array(&self) -> ArrayRef {
        match self {
            Self::Numbers(values) => Arc::new(Float64Array::from(values.to_vec())),
            Self::Wholes(values) => Arc::new(Int32Array::from(values.to_vec())),
        }
    }

    /// The value of a row as JSON; the shortest digits that read back as the same number.
    pub(super) fn json(&self, row: usize) -> Option<String> {
        match self {
            Self::Numbers(values) => values[row].map(|value| serde_json::json!(value).to_string()),
            Self::Wholes(values) => values[row].map(|value| value.to_string()),
        }
    }
}
