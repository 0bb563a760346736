//! What is done of a crawl, as a file: a killed run goes on from there.

use prospect_index::error::StoreError;
use prospect_index::storage::Storage;

use super::crawl::CrawlOrder;
use super::work_file;

/// A crawl, and whether it is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OrderRecord {
    /// The order so far.
    pub(crate) order: CrawlOrder,
    /// Whether nothing is left to fetch.
    pub(crate) complete: bool,
}

impl OrderRecord {
    /// Writes the record in place of an earlier one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(
        &self,
        storage: &Storage,
        name: &str,
        experiment: u64,
    ) -> Result<(), StoreError> {
        let CrawlOrder { pages, batch_ends, no_gain } = &self.order;
        let mut bytes = vec![u8::from(self.complete)];
        bytes.extend(no_gain.unwrap_or(u32::MAX).to_le_bytes());
        for column in [pages, batch_ends] {
            bytes.extend((column.len() as u32).to_le_bytes());
            bytes.extend(column.iter().flat_map(|value| value.to_le_bytes()));
        }
        work_file::write(storage, name, experiment, &bytes)
    }

    /// Reads the record of this experiment, if there is a whole one.
    pub(crate) fn read(storage: &Storage, name: &str, experiment: u64) -> Option<Self> {
        let bytes = work_file::read(storage, name, experiment)?;
        let (&complete, mut rest) = bytes.split_first()?;
        let (no_gain, tail) = rest.split_first_chunk::<4>()?;
        let no_gain = Some(u32::from_le_bytes(*no_gain)).filter(|&pages| pages != u32::MAX);
        rest = tail;
        let (pages, batch_ends) = (column(&mut rest)?, column(&mut rest)?);
        let order = CrawlOrder { pages, batch_ends, no_gain };
        Some(Self { order, complete: complete == 1 })
    }
}

/// Takes a column off the start of `rest`: its length, then its values.
fn column(rest: &mut &[u8]) -> Option<Vec<u32>> {
    let (count, tail) = rest.split_first_chunk::<4>()?;
    let bytes = u32::from_le_bytes(*count) as usize * 4;
    let (values, tail) = tail.split_at_checked(bytes)?;
    *rest = tail;
    let (values, _) = values.as_chunks::<4>();
    Some(values.iter().map(|value| u32::from_le_bytes(*value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let storage = Storage::create(directory.path()).unwrap();
        let order = CrawlOrder { pages: vec![4, 2, 9], batch_ends: vec![2, 3], no_gain: None };
        let mut record = OrderRecord { order, complete: true };
        for no_gain in [None, Some(2)] {
            record.order.no_gain = no_gain;
            record.write(&storage, "work/r", 7).unwrap();
            assert_eq!(OrderRecord::read(&storage, "work/r", 7).as_ref(), Some(&record));
        }
        assert_eq!(OrderRecord::read(&storage, "work/r", 8), None);
        let mut bytes = storage.read("work/r").unwrap();
        bytes[30] ^= 1;
        storage.write("work/r", &bytes).unwrap();
        assert_eq!(OrderRecord::read(&storage, "work/r", 7), None);
        assert_eq!(OrderRecord::read(&storage, "work/none", 7), None);
    }
}
