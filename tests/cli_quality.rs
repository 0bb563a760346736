//! `prospect quality score`: every format into every other, nothing lost, and what is no document.

mod common;
#[path = "common/documents.rs"]
mod documents;

use std::fs;
use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field};
use common::Run;
use documents::owi;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::SchemaDescriptor;
use serde_json::Value;
use tempfile::TempDir;

const FORMATS: [&str; 4] = ["parquet", "csv", "json", "jsonl"];

/// Two rows whose values are all different things.
const ROWS: &str = concat!(
    r#"{"url":"https://x.test/a","title":"A, \"quoted\"\n","text":"one two","n":9007199254740993,"#,
    r#""x":-0.25,"ok":true,"code":"007","outlinks":["https://x.test/b"],"meta":{"k":[1,2],"s":null},"gone":null}"#,
    "\n",
    r#"{"url":"https://x.test/b","title":null,"text":"three","n":-1,"#,
    r#""x":1e-7,"ok":null,"code":"é","outlinks":[],"meta":null,"gone":null}"#,
    "\n"
);

fn empty() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Runs `prospect quality score` with the words of a line in a directory.
fn run_in(directory: &TempDir, line: &str) -> Run {
    let mut arguments = vec!["quality", "score"];
    arguments.extend(line.split_whitespace());
    if !line.contains("--model") {
        arguments.extend(["--model", "text-length"]);
    }
    let output = common::command(&arguments).current_dir(directory.path()).output();
    output.expect("the binary starts").into()
}

#[track_caller]
fn done_in(directory: &TempDir, line: &str) -> Run {
    let run = run_in(directory, line);
    assert_eq!(run.code, Some(0), "{line}\n{}", run.stderr);
    run
}

fn put(directory: &TempDir, name: &str, content: impl AsRef<[u8]>) {
    fs::write(directory.path().join(name), content).unwrap();
}

fn text(directory: &TempDir, name: &str) -> String {
    fs::read_to_string(directory.path().join(name)).unwrap()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A case that fails for the user's input, leaves nothing behind, and says all of `expected`.
#[track_caller]
fn bad(given: &[(&str, &[u8])], line: &str, expected: &[&str]) {
    let directory = empty();
    for (name, content) in given {
        put(&directory, name, content);
    }
    let run = run_in(&directory, line);
    assert_eq!(run.code, Some(1), "{line}: {}", run.stderr);
    assert!(run.stderr.contains("\n\nhint: "), "{line}: {}", run.stderr);
    for part in expected {
        assert!(run.stderr.contains(part), "{line}: {part:?} is not in\n{}", run.stderr);
    }
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(left.len(), given.len(), "{line}: {left:?}");
}

#[test]
fn json_lines_change_by_the_added_key_alone() {
    let directory = empty();
    let odd = r#" { "b" : 12345678901234567890123 , "text":"w","a":1.50e0,"text":"word word" } "#;
    put(&directory, "in.jsonl", format!("{ROWS}{odd}\r\n\n{{\"title\":\"\\u00e9\"}}"));
    let run = done_in(&directory, "in.jsonl --output out.jsonl");
    let out = text(&directory, "out.jsonl");
    let [first, second, third, fourth] = out.lines().collect::<Vec<_>>()[..] else {
        panic!("{out}")
    };
    let mut rows = ROWS.lines();
    let with =
        |row: &str, score: f64| format!("{},\"quality_score\":{score}}}", &row[..row.len() - 1]);
    // Titles have words, too: `A quoted one two`.
    assert_eq!(first, with(rows.next().unwrap(), (4.0_f64 / 500.0).ln()));
    assert_eq!(second, with(rows.next().unwrap(), (1.0_f64 / 500.0).ln()));
    let score = (2.0_f64 / 500.0).ln();
    let start = odd.trim_end().strip_suffix('}').unwrap().trim_end();
    assert_eq!(third, format!("{start},\"quality_score\":{score}}}"));
    assert_eq!(fourth, with("{\"title\":\"\\u00e9\"}", (1.0_f64 / 500.0).ln()));
    assert!(run.stderr.contains("in.jsonl: text is title + text; model text-length\n"));
    assert!(run.stderr.contains("out.jsonl: 4 of 4 documents scored"), "{}", run.stderr);
    assert!(run.stderr.contains("next: prospect quality analyze out.jsonl\n"));
    assert!(!directory.path().join("out.jsonl.part").exists());
}

#[test]
fn every_format_becomes_every_other_and_back() {
    let directory = empty();
    put(&directory, "rows.jsonl", ROWS);
    done_in(&directory, "rows.jsonl --output expected.jsonl");
    let expected = lines(&text(&directory, "expected.jsonl"));
    for from in FORMATS {
        done_in(&directory, &format!("rows.jsonl --output from.{from} --overwrite"));
        for to in FORMATS {
            done_in(&directory, &format!("from.{from} --output to.{to} --overwrite"));
            done_in(&directory, &format!("to.{to} --output back.jsonl --overwrite"));
            let back = lines(&text(&directory, "back.jsonl"));
            for row in &back {
                assert!(row["quality_score"].is_f64(), "{from} to {to}");
            }
            assert_eq!(back, expected, "{from} to {to}");
        }
    }
}

#[test]
fn the_columns_of_a_parquet_file_keep_values_types_and_order() {
    let directory = empty();
    let before = owi(50);
    documents::write(&directory.path().join("in.parquet"), &before);
    let run = done_in(&directory, "in.parquet --output out.parquet --batch 7");
    assert!(run.stderr.contains("text is title + plain_text"), "{}", run.stderr);
    assert!(run.stderr.contains("43 of 50 documents scored"), "{}", run.stderr);
    let said = "without a score 7 (no-text), the first at in.parquet, row 7: ";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let after = documents::read(&directory.path().join("out.parquet"));
    let mut fields = before.schema().fields().to_vec();
    fields.push(Arc::new(Field::new("quality_score", DataType::Float64, true)));
    assert_eq!(after.schema().fields().to_vec(), fields);
    assert_eq!(&after.columns()[..fields.len() - 1], before.columns());
    let scores = after.column(fields.len() - 1).as_primitive::<Float64Type>();
    for row in 0..50 {
        // A title has three words: Page, its number, née.
        let expected = (row % 7 != 6).then(|| ((row % 40 + 4) as f64 / 500.0).ln());
        assert_eq!(scores.is_valid(row).then(|| scores.value(row)), expected, "row {row}");
    }
}

#[test]
fn a_parquet_file_declares_its_columns_as_before() {
    let directory = empty();
    let message = "message spark_schema {\n  REQUIRED BYTE_ARRAY url (UTF8);\n  \
                   OPTIONAL BYTE_ARRAY text (STRING);\n  OPTIONAL BYTE_ARRAY meta (JSON);\n  \
                   OPTIONAL group links (LIST) {\n    REPEATED group list {\n      \
                   OPTIONAL BYTE_ARRAY item (ENUM);\n    }\n  }\n}\n";
    let schema = SchemaDescriptor::new(Arc::new(parse_message_type(message).unwrap()));
    let texts = |values: [&str; 2]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
    let mut links =
        arrow_array::builder::ListBuilder::new(arrow_array::builder::StringBuilder::new());
    links.append_value([Some("a"), None]);
    links.append_null();
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("url", texts(["https://x.test/a", "https://x.test/b"]), false),
        ("text", texts(["one", "two"]), true),
        ("meta", texts(["{}", "[1]"]), true),
        ("links", Arc::new(links.finish()), true),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let file = File::create(directory.path().join("in.parquet")).unwrap();
    let options =
        ArrowWriterOptions::new().with_parquet_schema(schema).with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.append_key_value_metadata(parquet::file::metadata::KeyValue::new(
        "owner".to_owned(),
        "tests".to_owned(),
    ));
    writer.close().unwrap();
    done_in(&directory, "in.parquet --output out.parquet");
    let declared = |name: &str| {
        let file = File::open(directory.path().join(name)).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let mut shown = Vec::new();
        parquet::schema::printer::print_schema(&mut shown, builder.parquet_schema().root_schema());
        let notes = builder.metadata().file_metadata().key_value_metadata().cloned();
        let owner = notes.unwrap().into_iter().find(|note| note.key == "owner").unwrap();
        (String::from_utf8(shown).unwrap(), owner.value)
    };
    let (before, owner) = declared("in.parquet");
    let expected = before.replace("}\n}\n", "}\n  OPTIONAL DOUBLE quality_score;\n}\n");
    assert_eq!(declared("out.parquet"), (expected, owner));
}

#[test]
fn values_of_every_type_are_written_as_json() {
    let directory = empty();
    documents::write(&directory.path().join("in.parquet"), &owi(6));
    done_in(&directory, "in.parquet --output out.jsonl");
    let first = text(&directory, "out.jsonl").lines().next().unwrap().to_owned();
    let expected = concat!(
        r#"{"id":"0000","url":"https://x.test/0","title":"Page \"0\", née\n","plain_text":"word","#,
        r#""language":"eng","outgoing_links":[],"response":{"status":200,"charset":"utf-8"},"#,
        r#""headers":{"server":"s0"},"warc_date":"2023-11-14T22:13:20.123456Z","price":-0.03,"#,
        r#""hash":18446744073709551615,"quality_score":"#
    );
    assert!(first.starts_with(expected), "{first}");
    done_in(&directory, "in.parquet --output out.csv");
    let row = text(&directory, "out.csv").split("\n0004,").nth(1).unwrap().to_owned();
    // No links, and no cell for them.
    assert!(row.contains(",eng,,\"{\"\"status\"\":201,\"\"charset\"\":\"\"utf-8\"\"}\","), "{row}");
}

#[test]
fn types_of_text_formats_are_found_in_a_first_pass() {
    let directory = empty();
    put(
        &directory,
        "in.csv",
        "url,text,n,x,code,mixed,links\nhttps://x.test/,12,1,1,007,1,\"[\"\"a\"\"]\"\n\
         https://x.test/b,,,2.5,8,x,[]\n",
    );
    done_in(&directory, "in.csv --output out.parquet");
    let found = documents::read(&directory.path().join("out.parquet"));
    let kinds: Vec<String> =
        found.schema().fields().iter().map(|field| field.data_type().to_string()).collect();
    let list = "List(Utf8, field: 'element')";
    assert_eq!(kinds, ["Utf8", "Utf8", "Int64", "Float64", "Utf8", "Utf8", list, "Float64"]);
    assert_eq!(found.column(4).as_string::<i32>().value(1), "8");
    assert!(found.column(1).is_null(1) && found.column(2).is_null(1) && found.column(7).is_null(1));
}

#[test]
fn streams_and_compression() {
    let directory = empty();
    put(&directory, "rows.jsonl", ROWS);
    done_in(&directory, "rows.jsonl --output plain.jsonl");
    for packed in ["jsonl.gz", "json.zst", "csv.gz"] {
        done_in(&directory, &format!("rows.jsonl --output out.{packed}"));
        done_in(&directory, &format!("out.{packed} --output back.jsonl --overwrite"));
        let (back, plain) = (text(&directory, "back.jsonl"), text(&directory, "plain.jsonl"));
        assert_eq!(lines(&back), lines(&plain), "{packed}");
    }
    let through = |input: &str, line: &str| {
        let mut arguments = vec!["quality", "score", "--model", "text-length"];
        arguments.extend(line.split_whitespace());
        let mut command = common::command(&arguments);
        let command = command.current_dir(directory.path()).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Run::from(child.wait_with_output().unwrap())
    };
    let run = through(ROWS, "- --output - --input-format jsonl");
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), text(&directory, "plain.jsonl").as_str())
    );
    let run = through(ROWS, "- --output out.parquet --input-format jsonl");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("standard input is read twice"), "{}", run.stderr);
    assert_eq!(documents::read(&directory.path().join("out.parquet")).num_rows(), 2);
    let run = through(ROWS, "- --output - --input-format jsonl --output-format csv");
    assert!(
        run.stderr.contains("jsonl from standard input to csv on standard output takes two passes")
    );
    let run = through(ROWS, "- --output -");
    assert!(run.stderr.contains("hint: say --input-format parquet, csv, json"), "{}", run.stderr);
}

#[test]
#[cfg(feature = "neural")]
fn where_no_gpu_can_be_used_auto_is_the_processor_and_says_so() {
    let directory = empty();
    put(&directory, "in.jsonl", ROWS);
    let plain = done_in(&directory, "in.jsonl --output cpu.jsonl --model bundled");
    assert!(!plain.stderr.contains("models run by"), "{}", plain.stderr);
    let auto = done_in(&directory, "in.jsonl --output auto.jsonl --model bundled --device auto");
    assert!(auto.stderr.contains("models run by rten 0.27 on the processor ("), "{}", auto.stderr);
    assert_eq!(text(&directory, "cpu.jsonl"), text(&directory, "auto.jsonl"));
}

#[test]
fn bad_rows_are_left_out_and_counted() {
    let directory = empty();
    put(
        &directory,
        "in.jsonl",
        "{\"text\":\"a b\"}\n[1]\n{\"text\":\n{\"text\":7}\n\n{\"text\":\" \"}\n{}\n",
    );
    let run = done_in(&directory, "in.jsonl --output out.jsonl --json");
    assert_eq!(text(&directory, "out.jsonl").lines().count(), 4);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["schema"], "prospect.quality-score/1");
    let file = &found["files"][0];
    assert_eq!((&file["documents"], &file["scored"]), (&4.into(), &1.into()));
    assert_eq!(file["unscored"]["no-text"]["count"], 2);
    assert_eq!(file["unscored"]["wrong-type"]["first"], "in.jsonl:4: text is no text but 7");
    assert_eq!(
        file["skipped"]["not-an-object"]["first"],
        "in.jsonl:2: expected {…}, found \"[1]\""
    );
    assert_eq!(file["skipped"]["invalid-json"]["count"], 1);
    let strict = run_in(&directory, "in.jsonl --output strict.jsonl --strict");
    assert!(strict.stderr.contains("error: in.jsonl:2: not-an-object"), "{}", strict.stderr);
    put(&directory, "in.csv", "id,text\n1,a\n2\n3,b,c\n4,\"d\ne\"\n");
    let run = done_in(&directory, "in.csv --output out.csv");
    assert_eq!(text(&directory, "out.csv").matches(",-").count(), 2);
    let said = "skipped 2 (wrong-cell-count), the first at in.csv:3: 1 cells, the header has 2";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn nothing_is_replaced_unless_asked() {
    let directory = empty();
    put(&directory, "in.jsonl", "{\"text\":\"a\",\"quality_score\":\"old\",\"z\":1}\n");
    let run = run_in(&directory, "in.jsonl --output out.jsonl");
    assert!(run.stderr.contains("in.jsonl: there is a column \"quality_score\" already"));
    done_in(&directory, "in.jsonl --output out.jsonl --overwrite");
    let score = (1.0_f64 / 500.0).ln();
    assert_eq!(
        text(&directory, "out.jsonl"),
        format!("{{\"text\":\"a\",\"quality_score\":{score},\"z\":1}}\n")
    );
    let run = run_in(&directory, "in.jsonl --output out.jsonl --column q");
    assert!(run.stderr.contains("error: out.jsonl: is there already"), "{}", run.stderr);
    // A key that only a late row has.
    put(&directory, "late.jsonl", "{\"text\":\"a\"}\n".repeat(300) + "{\"text\":\"a\",\"q\":1}\n");
    let run = run_in(&directory, "late.jsonl --output late.out.jsonl --column q");
    assert!(
        run.stderr.contains("late.jsonl:301: there is a column \"q\" already"),
        "{}",
        run.stderr
    );
    // In place, in all formats with columns.
    for format in ["parquet", "csv"] {
        done_in(&directory, &format!("in.jsonl --output a.{format} --overwrite"));
        done_in(&directory, &format!("a.{format} --output b.jsonl --overwrite"));
        assert_eq!(text(&directory, "b.jsonl"), text(&directory, "out.jsonl"), "{format}");
    }
}

#[test]
fn several_inputs_go_into_a_directory() {
    let directory = empty();
    put(&directory, "a.jsonl", ROWS);
    put(&directory, "b.csv", "text\nx\n");
    done_in(&directory, "a.jsonl b.csv --output out --output-format parquet");
    for (name, rows) in [("out/a.parquet", 2), ("out/b.parquet", 1)] {
        assert_eq!(documents::read(&directory.path().join(name)).num_rows(), rows);
    }
    let run = run_in(&directory, "a.jsonl b.csv --output out --output-format parquet");
    assert!(run.stderr.contains("out/a.parquet: is there already"), "{}", run.stderr);
    let run = done_in(&directory, "a.jsonl b.csv --output out --output-format parquet --resume");
    assert!(run.stderr.contains("out/b.parquet: is complete, left as it is"), "{}", run.stderr);
    fs::create_dir(directory.path().join("c")).unwrap();
    put(&directory, "c/a.jsonl", ROWS);
    let run = run_in(&directory, "a.jsonl c/a.jsonl --output more/");
    assert!(run.stderr.contains("more/a.jsonl: two inputs have this output"), "{}", run.stderr);
}

#[test]
fn unusable_files_are_named_with_place_and_way_out() {
    let row = b"{\"text\":\"a\"}\n";
    let to = "--output out.jsonl";
    bad(&[], &format!("none.csv {to}"), &["none.csv: there is no such file", "check the spelling"]);
    bad(
        &[("a.bin", row)],
        "a.bin --output b.bin",
        &["b.bin: its format is not known", "--output-format"],
    );
    bad(&[("a.txt", b"text\n")], &format!("a.txt {to}"), &["a.txt: its format is not known"]);
    bad(
        &[("a.parquet", row)],
        &format!("a.parquet {to}"),
        &["a.parquet: expected a Parquet file, found a file that starts with", "--input-format"],
    );
    bad(&[("a.parquet", b"")], &format!("a.parquet {to}"), &["a.parquet: is empty"]);
    bad(&[("a.jsonl", b"\n\n")], &format!("a.jsonl {to}"), &["a.jsonl: is empty"]);
    bad(
        &[("a.json", b"[{\"text\":\"a\"},\n{\"text\":\"b\"}")],
        &format!("a.json {to}"),
        &["a.json:2: the JSON array is not closed with ] (after 1 elements)", "jq -c"],
    );
    bad(
        &[("a.json", b"[{\"text\":\"a\"}]\n\n{}")],
        &format!("a.json {to}"),
        &["a.json:3: something follows the end of the JSON array"],
    );
    bad(
        &[("a.csv", b"id,text,id\n")],
        &format!("a.csv {to}"),
        &["a.csv:1: the header names \"id\" twice", "names its columns, each once"],
    );
    bad(
        &[("a.csv", b"id,html\n1,x\n")],
        &format!("a.csv {to}"),
        &[
            "a.csv: there is no column of text (title, plain_text, text, content, body); it has id, html",
        ],
    );
    bad(
        &[("a.jsonl", row)],
        &format!("a.jsonl {to} --text-columns text,summary"),
        &["there is no column \"summary\"; it has text"],
    );
    bad(
        &[("a.csv", "a\u{1}b\n".repeat(1200).as_bytes())],
        &format!("a.csv {to} --input-format jsonl"),
        &["none of the first", "rows is a document (first: a.csv:1: invalid-json"],
    );
    bad(
        &[("a.jsonl", b"{\"text\": }\n")],
        &format!("a.jsonl {to}"),
        &["a.jsonl: none of the first 1 rows is a document"],
    );
    bad(
        &[("a.jsonl", row)],
        &format!("a.jsonl {to} --model nowhere"),
        &["there is no model nowhere", "`text-length`"],
    );
    bad(&[("a.jsonl", row)], "a.jsonl --output no/out.jsonl", &["no: there is no such directory"]);
    bad(
        &[("a.jsonl", row)],
        "a.jsonl --output - --output-format parquet",
        &["standard output: Parquet needs a file"],
    );
}

#[test]
fn what_was_scored_before_the_damage_is_kept() {
    let directory = empty();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    for row in 0..2000 {
        writeln!(packed, "{{\"id\":\"{:x}\",\"text\":\"a\"}}", row * 7_919 % 65_521).unwrap();
    }
    let packed = packed.finish().unwrap();
    put(&directory, "a.jsonl.gz", &packed[..packed.len() / 2]);
    let run = run_in(&directory, "a.jsonl.gz --output out.jsonl");
    assert_eq!(run.code, Some(1));
    for part in [
        "a.jsonl.gz: cannot be read (in line ",
        " of gzip data)",
        "compare its length",
        "out.jsonl.part; --resume goes on",
    ] {
        assert!(run.stderr.contains(part), "{part:?} is not in {}", run.stderr);
    }
    assert!(!directory.path().join("out.jsonl").exists());
    put(&directory, "a.jsonl.gz", &packed);
    let run = done_in(&directory, "a.jsonl.gz --output out.jsonl --resume");
    assert!(run.stderr.contains("2000 of 2000 documents scored, "), "{}", run.stderr);
    assert_eq!(text(&directory, "out.jsonl").lines().count(), 2000);
}

#[test]
fn damaged_parquet_is_refused() {
    let directory = empty();
    documents::write(&directory.path().join("in.parquet"), &owi(2000));
    let whole = fs::read(directory.path().join("in.parquet")).unwrap();
    let to = "in.parquet --output out.jsonl";
    let cut = &whole[..whole.len() / 2];
    bad(&[("in.parquet", cut)], to, &["in.parquet: the Parquet file has no footer after"]);
    let mut hole = whole.clone();
    let at = whole.len() / 3;
    hole[at..at + 400].fill(0xff);
    bad(&[("in.parquet", &hole)], to, &["in.parquet: ", "compare its length"]);
    let mut footer = whole.clone();
    let end = whole.len() - 8;
    footer[end..end + 4].fill(0xff);
    bad(&[("in.parquet", &footer)], to, &["in.parquet: the Parquet data is damaged"]);
}

#[test]
fn the_compression_of_a_parquet_file_is_kept() {
    let directory = empty();
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        let batch = owi(20);
        let file = File::create(directory.path().join("in.parquet")).unwrap();
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        done_in(&directory, "in.parquet --output out.parquet --overwrite");
        let file = File::open(directory.path().join("out.parquet")).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        assert_eq!(builder.metadata().row_group(0).column(0).compression(), compression);
    }
}

/// Times of twelve bytes and lists of two levels are how old versions of Spark and Hive write.
#[test]
fn columns_of_obsolete_layouts_are_declared_anew() {
    let directory = empty();
    let message = "message hive { OPTIONAL BYTE_ARRAY text (STRING); OPTIONAL INT96 fetched; \
                   OPTIONAL group links (LIST) { REPEATED BYTE_ARRAY array (STRING); } }";
    let schema = Arc::new(parse_message_type(message).unwrap());
    let file = File::create(directory.path().join("in.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let texts = |values: &[&'static str]| -> Vec<ByteArray> {
        values.iter().map(|value| ByteArray::from(*value)).collect()
    };
    let mut column = group.next_column().unwrap().unwrap();
    let values = texts(&["one", "two words"]);
    column.typed::<ByteArrayType>().write_batch(&values, Some(&[1, 1]), None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    // Noon of the first day of 1970, whose Julian number is 2440588.
    let noon = 12 * 3_600 * 1_000_000_000_u64;
    let time = Int96::from(vec![noon as u32, (noon >> 32) as u32, 2_440_588]);
    column.typed::<Int96Type>().write_batch(&[time], Some(&[1, 0]), None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values = texts(&["a", "b"]);
    column
        .typed::<ByteArrayType>()
        .write_batch(&values, Some(&[2, 2, 0]), Some(&[0, 1, 0]))
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    done_in(&directory, "in.parquet --output out.parquet");
    done_in(&directory, "out.parquet --output out.jsonl --overwrite");
    let rows = lines(&text(&directory, "out.jsonl"));
    assert_eq!(rows[0]["fetched"], "1970-01-01T12:00:00");
    assert_eq!(rows[0]["links"], serde_json::json!(["a", "b"]));
    assert_eq!((&rows[1]["fetched"], &rows[1]["links"]), (&Value::Null, &Value::Null));
}

/// A WARC record of a response, compressed by itself, as crawlers write them.
fn archived(uri: &str, status: u16, body: &str) -> Vec<u8> {
    let block = format!("HTTP/1.1 {status} Said\r\nContent-Type: text/html\r\n\r\n{body}");
    let record = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {uri}\r\nWARC-Date: 2026-11-23T10:00:00Z\r\n\
         Content-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    );
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(record.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn crawl() -> Vec<u8> {
    let linked = "<title>Foxes</title><p>Red foxes, and <a href='/b'>brown bears</a>";
    [
        archived("https://e.org/a", 200, linked),
        archived("https://e.org/b", 200, "<title>Bears</title><p>Brown bears sleep"),
        archived("https://e.org/gone", 404, "<p>Nothing"),
        archived("https://e.org/empty", 200, ""),
    ]
    .concat()
}

#[test]
fn an_archive_becomes_scored_pages_that_a_store_takes_in() {
    let directory = empty();
    put(&directory, "crawl.warc.gz", crawl());
    let run = done_in(&directory, "crawl.warc.gz --output pages.parquet");
    for said in [
        "crawl.warc.gz: text is title + plain_text; model text-length",
        "pages.parquet: 2 of 2 documents scored",
        "no document 1 (failed), the first at crawl.warc.gz, record 3: https://e.org/gone (status 404)",
        "no document 1 (no-text), the first at crawl.warc.gz, record 4: https://e.org/empty",
    ] {
        assert!(run.stderr.contains(said), "{said:?} is not in\n{}", run.stderr);
    }
    let batch = documents::read(&directory.path().join("pages.parquet"));
    let names: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    let columns =
        "url requested_url title plain_text outgoing_links outlinks status warc_date quality_score";
    assert_eq!(names, columns.split(' ').collect::<Vec<_>>());
    let score = batch.column_by_name("quality_score").unwrap().as_primitive::<Float64Type>();
    assert_eq!(score.values(), &[(6.0_f64 / 500.0).ln(), (4.0_f64 / 500.0).ln()]);

    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (store, pages) = (at("store"), at("pages.parquet"));
    let taken = common::done(&["ingest", "--json", "--store", &store, &pages]);
    let told: Value = serde_json::from_str(&taken.stdout).unwrap();
    assert_eq!([&told["pages"], &told["counts"]["links"]], [2, 1]);

    // A directory takes Parquet of archives; standard output takes lines.
    done_in(&directory, "crawl.warc.gz --output scored/");
    assert_eq!(documents::read(&directory.path().join("scored/crawl.parquet")), batch);
    let streamed = done_in(&directory, "crawl.warc.gz --output -").stdout;
    let links = &lines(&streamed)[0]["outlinks"];
    assert_eq!(links.to_string(), r#"[{"anchor":"brown bears","url":"https://e.org/b"}]"#);
    bad(
        &[("a.warc.gz", &crawl())],
        "a.warc.gz --output b.warc",
        &["b.warc: WARC is read", ".parquet"],
    );
    bad(&[("a.warc.gz", b"{}")], "a.warc.gz --output b.csv", &["expected WARC, found JSON lines"]);
}
