//! Files of work in progress: each names its experiment and ends with a checksum. One that does not
//! fit is as good as none.

use prospect_index::error::StoreError;
use prospect_index::storage::Storage;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 15] = b"prospect-work-2";

/// Writes a file in place of an earlier one.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(
    storage: &Storage,
    name: &str,
    experiment: u64,
    body: &[u8],
) -> Result<(), StoreError> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(experiment.to_le_bytes());
    bytes.extend(body);
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    storage.write(name, &bytes).map(|_| ())
}

/// The body of a file of this experiment, if there is a whole one.
pub(crate) fn read(storage: &Storage, name: &str, experiment: u64) -> Option<Vec<u8>> {
    if !storage.exists(name) {
        return None;
    }
    let bytes = storage.read(name).ok()?;
    let (body, checksum) = bytes.split_last_chunk::<8>()?;
    if xxh3_64(body) != u64::from_le_bytes(*checksum) {
        return None;
    }
    let body = body.strip_prefix(MAGIC)?.strip_prefix(&experiment.to_le_bytes())?;
    Some(body.to_vec())
}
