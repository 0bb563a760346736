//! Tables of an experiment as CSV files with a header (RFC 4180).

use csv::Writer;
use prospect_index::error::StoreError;
use prospect_index::storage::Storage;

use super::SimulateError;

/// Writes a table of columns with these names.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write<const N: usize>(
    storage: &Storage,
    name: &str,
    columns: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> Result<(), SimulateError> {
    let failed = |error: csv::Error| write_error(name, error);
    let mut bytes = Vec::new();
    let mut table = Writer::from_writer(&mut bytes);
    table.write_record(columns).map_err(failed)?;
    for row in rows {
        table.write_record(row).map_err(failed)?;
    }
    table.flush().map_err(|error| failed(error.into()))?;
    drop(table);
    storage.write(name, &bytes)?;
    Ok(())
}

fn write_error(name: &str, error: csv::Error) -> StoreError {
    StoreError::Io { operation: "write", path: name.into(), source: error.into() }
}

/// What stands for a number that there may not be: nothing if there is none.
pub(super) fn cell(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be_and_a_table_without_rows_has_its_header() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::create(folder.path()).unwrap();
        let rows = [["a,b", "2"], ["say \"x\"", ""]].map(|row| row.map(str::to_owned));
        write(&storage, "t.csv", ["name", "n"], rows.into_iter()).unwrap();
        write(&storage, "e.csv", ["name", "n"], [].into_iter()).unwrap();
        let text = |name| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(text("t.csv"), "name,n\n\"a,b\",2\n\"say \"\"x\"\"\",\n");
        assert_eq!(text("e.csv"), "name,n\n");
        assert_eq!([Some(0.5), None].map(cell), ["0.5", ""]);
    }
}
