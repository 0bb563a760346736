//! Arrow values as JSON text.
//!
//! Numbers are written in full, the shortest digits that read back as the same number; NaN and
//! infinity, which JSON lacks, as null. Dates and times are ISO 8601, an instant with `Z`; binary
//! values are hex digits, durations whole numbers of their unit, maps objects.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};

use super::object;

/// The rows of a batch as JSON objects.
pub(super) fn objects(batch: &RecordBatch) -> Vec<String> {
    let schema = batch.schema();
    let keys: Vec<String> =
        schema.fields().iter().map(|field| object::string(field.name())).collect();
    let mut out = Vec::with_capacity(batch.num_rows());
    for row in 0..batch.num_rows() {
        let mut text = String::from("{");
        for (at, (key, column)) in keys.iter().zip(batch.columns()).enumerate() {
            if at > 0 {
                text.push(',');
            }
            text.push_str(key);
            text.push(':');
            push(&mut text, column, row);
        }
        text.push('}');
        out.push(text);
    }
    out
}

/// The first type within `kind` that [`push`] does not know.
pub(super) fn unknown(kind: &DataType) -> Option<String> {
    match kind {
        DataType::Union(..) | DataType::RunEndEncoded(..) | DataType::Interval(_) => {
            Some(kind.to_string())
        }
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => unknown(field.data_type()),
        DataType::Struct(fields) => fields.iter().find_map(|field| unknown(field.data_type())),
        DataType::Dictionary(_, values) => unknown(values),
        _ => None,
    }
}

/// Appends the value of a row.
pub(super) fn push(out: &mut String, array: &dyn Array, row: usize) {
    if array.is_null(row) {
        out.push_str("null");
        return;
    }
    match array.data_type() {
        DataType::Boolean => push_shown(out, array.as_boolean().value(row)),
        DataType::Utf8 => out.push_str(&object::string(array.as_string::<i32>().value(row))),
        DataType::LargeUtf8 => out.push_str(&object::string(array.as_string::<i64>().value(row))),
        DataType::Utf8View => out.push_str(&object::string(array.as_string_view().value(row))),
        DataType::Binary => push_bytes(out, array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => push_bytes(out, array.as_binary::<i64>().value(row)),
        DataType::BinaryView => push_bytes(out, array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => push_bytes(out, array.as_fixed_size_binary().value(row)),
        DataType::List(_) => push_list(out, &array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => push_list(out, &array.as_list::<i64>().value(row)),
        DataType::ListView(_) => push_list(out, &array.as_list_view::<i32>().value(row)),
        DataType::LargeListView(_) => push_list(out, &array.as_list_view::<i64>().value(row)),
        DataType::FixedSizeList(..) => push_list(out, &array.as_fixed_size_list().value(row)),
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            let named = fields.iter().map(|field| object::string(field.name())).zip(columns);
            push_members(out, named.map(|(key, column)| (key, column.as_ref(), row)));
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let (keys, values) = (entries.column(0), entries.column(1));
            let members = (0..entries.len()).map(|at| (key(keys, at), values.as_ref(), at));
            push_members(out, members);
        }
        DataType::Dictionary(keys, _) => push_entry(out, keys, array, row),
        _ => push_scalar(out, array, row),
    }
}

fn push_scalar(out: &mut String, array: &dyn Array, row: usize) {
    macro_rules! whole {
        ($kind:ty) => {
            push_shown(out, array.as_primitive::<$kind>().value(row))
        };
    }
    macro_rules! decimal {
        ($kind:ty) => {
            out.push_str(&array.as_primitive::<$kind>().value_as_string(row))
        };
    }
    match array.data_type() {
        DataType::Int8 => whole!(Int8Type),
        DataType::Int16 => whole!(Int16Type),
        DataType::Int32 => whole!(Int32Type),
        DataType::Int64 => whole!(Int64Type),
        DataType::UInt8 => whole!(UInt8Type),
        DataType::UInt16 => whole!(UInt16Type),
        DataType::UInt32 => whole!(UInt32Type),
        DataType::UInt64 => whole!(UInt64Type),
        DataType::Float16 => {
            let value = array.as_primitive::<Float16Type>().value(row);
            out.push_str(&serde_json::json!(f32::from(value)).to_string());
        }
        DataType::Float32 => {
            let value = array.as_primitive::<Float32Type>().value(row);
            // Through its own digits: as a double, 0.1 would have seventeen of them.
            out.push_str(&serde_json::to_string(&value).unwrap_or_else(|_| "null".to_owned()));
        }
        DataType::Float64 => {
            let value = array.as_primitive::<Float64Type>().value(row);
            out.push_str(&serde_json::json!(value).to_string());
        }
        DataType::Decimal32(..) => decimal!(Decimal32Type),
        DataType::Decimal64(..) => decimal!(Decimal64Type),
        DataType::Decimal128(..) => decimal!(Decimal128Type),
        DataType::Decimal256(..) => decimal!(Decimal256Type),
        DataType::Duration(TimeUnit::Second) => whole!(DurationSecondType),
        DataType::Duration(TimeUnit::Millisecond) => whole!(DurationMillisecondType),
        DataType::Duration(TimeUnit::Microsecond) => whole!(DurationMicrosecondType),
        DataType::Duration(TimeUnit::Nanosecond) => whole!(DurationNanosecondType),
        _ => match time(array, row) {
            Some(time) => out.push_str(&object::string(&time)),
            None => out.push_str("null"),
        },
    }
}

/// A date, a time of day or an instant; none for one that no calendar has.
fn time(array: &dyn Array, row: usize) -> Option<String> {
    macro_rules! instant {
        ($kind:ty, $zone:expr) => {{
            let time = array.as_primitive::<$kind>().value_as_datetime(row)?;
            let zone = if $zone.is_some() { "Z" } else { "" };
            format!("{time:?}{zone}")
        }};
    }
    macro_rules! of_day {
        ($kind:ty) => {
            format!("{:?}", array.as_primitive::<$kind>().value_as_time(row)?)
        };
    }
    Some(match array.data_type() {
        DataType::Timestamp(TimeUnit::Second, zone) => instant!(TimestampSecondType, zone),
        DataType::Timestamp(TimeUnit::Millisecond, zone) => {
            instant!(TimestampMillisecondType, zone)
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            instant!(TimestampMicrosecondType, zone)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            instant!(TimestampNanosecondType, zone)
        }
        DataType::Date32 => format!("{:?}", array.as_primitive::<Date32Type>().value_as_date(row)?),
        DataType::Date64 => format!("{:?}", array.as_primitive::<Date64Type>().value_as_date(row)?),
        DataType::Time32(TimeUnit::Second) => of_day!(Time32SecondType),
        DataType::Time32(_) => of_day!(Time32MillisecondType),
        DataType::Time64(TimeUnit::Microsecond) => of_day!(Time64MicrosecondType),
        DataType::Time64(_) => of_day!(Time64NanosecondType),
        _ => return None,
    })
}

fn push_list(out: &mut String, values: &dyn Array) {
    out.push('[');
    for at in 0..values.len() {
        if at > 0 {
            out.push(',');
        }
        push(out, values, at);
    }
    out.push(']');
}

fn push_members<'a>(
    out: &mut String,
    members: impl Iterator<Item = (String, &'a dyn Array, usize)>,
) {
    out.push('{');
    for (at, (key, array, row)) in members.enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(&key);
        out.push(':');
        push(out, array, row);
    }
    out.push('}');
}

/// A key of a map as a JSON string.
fn key(keys: &dyn Array, at: usize) -> String {
    let mut text = String::new();
    push(&mut text, keys, at);
    if text.starts_with('"') { text } else { object::string(&text) }
}

/// A value that a dictionary holds.
fn push_entry(out: &mut String, keys: &DataType, array: &dyn Array, row: usize) {
    fn of<K: ArrowDictionaryKeyType>(out: &mut String, array: &dyn Array, row: usize) {
        let dictionary = array.as_dictionary::<K>();
        match dictionary.key(row) {
            Some(at) => push(out, dictionary.values(), at),
            None => out.push_str("null"),
        }
    }
    match keys {
        DataType::Int8 => of::<Int8Type>(out, array, row),
        DataType::Int16 => of::<Int16Type>(out, array, row),
        DataType::Int64 => of::<Int64Type>(out, array, row),
        DataType::UInt8 => of::<UInt8Type>(out, array, row),
        DataType::UInt16 => of::<UInt16Type>(out, array, row),
        DataType::UInt32 => of::<UInt32Type>(out, array, row),
        DataType::UInt64 => of::<UInt64Type>(out, array, row),
        _ => of::<Int32Type>(out, array, row),
    }
}

fn push_shown(out: &mut String, value: impl std::fmt::Display) {
    let _ = write!(out, "{value}");
}

fn push_bytes(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out.push('"');
}
