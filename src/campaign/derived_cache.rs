//! Values that commands leave in the store for the next ones, as derived structures: each under the
//! key that it was made from, one of a kind at a time. Whatever is missing, damaged or of another
//! key is made again.

use std::io;

use prospect_index::derived::{Derived, Found};
use prospect_index::error::StoreError;
use prospect_index::store::Store;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Where values of one kind are kept.
pub(super) struct DerivedCache<'a> {
    store: &'a Store,
    derived: Derived<'a>,
    name: &'static str,
}

/// What was found.
pub(super) enum Lookup<K, V> {
    /// A value, and its key.
    Whole(K, V),
    /// One that cannot be read, with the reason, for the report.
    Damaged(String),
    /// One of another key.
    Unfit,
    /// None.
    Missing,
}

impl<K, V> Lookup<K, V> {
    /// Why a value is made again although there is one.
    pub(super) fn rebuilt(&self) -> Option<String> {
        match self {
            Self::Damaged(why) => Some(why.clone()),
            Self::Unfit => Some("the workload, the epoch or the pages are others".to_owned()),
            Self::Whole(..) | Self::Missing => None,
        }
    }
}

impl<'a> DerivedCache<'a> {
    /// Of values called `name`, in a format of this version.
    pub(super) fn new(store: &'a Store, name: &'static str, version: u32) -> Self {
        let derived = Derived::new(store.storage(), store.manifest(), name, version);
        Self { store, derived, name }
    }

    /// The value that is kept, if its key fits.
    pub(super) fn take<K: DeserializeOwned, V: DeserializeOwned>(
        &self,
        fits: impl FnOnce(&K) -> bool,
    ) -> Lookup<K, V> {
        let (key, files) = match self.derived.find::<K>() {
            Found::Whole(key, files) if fits(&key) => (key, files),
            Found::Whole(..) => return Lookup::Unfit,
            Found::Damaged(what) => return Lookup::Damaged(what),
            Found::Missing => return Lookup::Missing,
        };
        // The files have been verified; only another version's format would not be understood.
        match files.first().map(|file| self.derived.read(file, |bytes| postcard::from_bytes(bytes)))
        {
            Some(Ok(Ok(value))) => Lookup::Whole(key, value),
            Some(Ok(Err(error))) => Lookup::Damaged(error.to_string()),
            Some(Err(error)) => Lookup::Damaged(error.to_string()),
            None => Lookup::Missing,
        }
    }

    /// Keeps a value, in the place of the one before.
    ///
    /// # Errors
    /// The write failed.
    pub(super) fn put<K: Serialize, V: Serialize>(
        &self,
        key: &K,
        value: &V,
    ) -> Result<(), StoreError> {
        let generation = self.store.manifest().generation;
        let name = format!("{}-{generation:06}.bin", self.name);
        let entry = self
            .derived
            .write(&name, |out| postcard::to_io(value, out).map(drop).map_err(io::Error::other))?;
        self.derived.publish(key, vec![entry])
    }
}
