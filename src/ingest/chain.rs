//! Several sources read one after another. Knows no format.

use super::input::of_parts;
use super::{IngestError, MisnamedKeys, PageSource, SourceItem};

/// One source that gives everything of `sources` in order.
///
/// # Errors
/// There is none.
pub(super) fn one_after_another(
    mut sources: Vec<Box<dyn PageSource>>,
) -> Result<Box<dyn PageSource>, IngestError> {
    if sources.len() > 1 {
        return Ok(Box::new(Chain { sources, current: 0 }));
    }
    sources.pop().ok_or(IngestError::NoInput)
}

struct Chain {
    sources: Vec<Box<dyn PageSource>>,
    current: usize,
}

impl PageSource for Chain {
    fn next_batch(&mut self, max: usize) -> Result<Vec<SourceItem>, IngestError> {
        while let Some(source) = self.sources.get_mut(self.current) {
            let batch = source.next_batch(max)?;
            if !batch.is_empty() {
                return Ok(batch);
            }
            self.current += 1;
        }
        Ok(Vec::new())
    }

    fn progress(&self) -> (u64, Option<u64>) {
        self.sources.iter().map(|source| source.progress()).fold(
            (0, Some(0)),
            |(done, total), (more_done, more_total)| {
                (done + more_done, total.zip(more_total).map(|(a, b)| a + b))
            },
        )
    }

    fn fingerprint(&self) -> String {
        of_parts(self.sources.iter().map(|source| source.fingerprint()))
    }

    fn misnamed(&self) -> MisnamedKeys {
        let mut all = MisnamedKeys::default();
        self.sources.iter().for_each(|source| all.join(source.misnamed()));
        all
    }
}
