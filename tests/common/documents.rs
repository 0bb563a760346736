//! Files of documents for tests: rows as JSON, and Parquet with the columns that OWI files have.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{
    Int32Builder, ListBuilder, MapBuilder, StringBuilder, StructBuilder, UInt64Builder,
};
use arrow_array::{
    Array, ArrayRef, Decimal128Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// A text of some words.
pub fn words(count: usize) -> String {
    vec!["word"; count].join(" ")
}

/// Columns of many types, `rows` of them; every seventh has no text, every fifth no links.
pub fn owi(rows: usize) -> RecordBatch {
    let text = |row: usize| (row % 7 != 6).then(|| words(row % 40 + 1));
    let mut links = ListBuilder::new(StringBuilder::new()).with_field(Field::new(
        "element",
        DataType::Utf8,
        true,
    ));
    let fields = Fields::from(vec![
        Field::new("status", DataType::Int32, true),
        Field::new("charset", DataType::Utf8, true),
    ]);
    let mut response = StructBuilder::from_fields(fields, rows);
    let mut headers = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    let mut hash = UInt64Builder::new();
    for row in 0..rows {
        if row % 5 == 4 {
            links.append_null();
        } else {
            links.append_value((0..row % 4).map(|at| Some(format!("https://x.test/{at}"))));
        }
        let status: &mut Int32Builder = response.field_builder(0).unwrap();
        status.append_value(200 + row as i32 % 3);
        let charset: &mut StringBuilder = response.field_builder(1).unwrap();
        charset.append_option((row % 2 == 0).then_some("utf-8"));
        response.append(row % 6 != 5);
        headers.keys().append_value("server");
        headers.values().append_value(format!("s{row}"));
        headers.append(true).unwrap();
        hash.append_value(u64::MAX - row as u64);
    }
    let each = |value: &dyn Fn(usize) -> Option<String>| -> ArrayRef {
        Arc::new((0..rows).map(value).collect::<StringArray>())
    };
    let times = (0..rows as i64).map(|row| Some(1_700_000_000_123_456 + row));
    let times = times.collect::<TimestampMicrosecondArray>().with_timezone("UTC");
    let prices = Decimal128Array::from_iter_values((0..rows as i128).map(|row| row * 7 - 3));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", each(&|row| Some(format!("{row:04}")))),
        ("url", each(&|row| Some(format!("https://x.test/{row}")))),
        ("title", each(&|row| (row % 7 != 6).then(|| format!("Page \"{row}\", née\n")))),
        ("plain_text", each(&text)),
        ("language", each(&|_| Some("eng".to_owned()))),
        ("outgoing_links", Arc::new(links.finish())),
        ("response", Arc::new(response.finish())),
        ("headers", Arc::new(headers.finish())),
        ("warc_date", Arc::new(times)),
        ("price", Arc::new(prices.with_precision_and_scale(9, 2).unwrap())),
        ("hash", Arc::new(hash.finish())),
    ];
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), *name != "id"))
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

/// Writes a batch as Parquet.
pub fn write(path: &Path, batch: &RecordBatch) {
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// All of a Parquet file as one batch.
pub fn read(path: &Path) -> RecordBatch {
    let file = File::open(path).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let mut batches = builder.with_batch_size(1 << 20).build().unwrap();
    let batch = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none());
    batch
}
