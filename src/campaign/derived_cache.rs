//! Values that commands leave in the store for the next ones, as derived structures: each under the
//! key that it was made from, one of a kind at a time. Whatever is missing, damaged or of another
//! key is made again.

use std::io;

use prospect_index::derived::{Derived, Found};
use prospect_index::error::StoreError;
use prospect_index::storage::FileEntry;
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

    /// What is made of a value that was found; it is damaged where that fails.
    pub(super) fn and_then<W>(self, make: impl FnOnce(V) -> Result<W, String>) -> Lookup<K, W> {
        match self {
            Self::Whole(key, value) => match make(value) {
                Ok(made) => Lookup::Whole(key, made),
                Err(what) => Lookup::Damaged(what),
            },
            Self::Damaged(what) => Lookup::Damaged(what),
            Self::Unfit => Lookup::Unfit,
            Self::Missing => Lookup::Missing,
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
        self.take_with(fits).and_then(|(value, _)| Ok(value))
    }

    /// The same, with the file that it is kept beside, if there is one.
    pub(super) fn take_with<K: DeserializeOwned, V: DeserializeOwned>(
        &self,
        fits: impl FnOnce(&K) -> bool,
    ) -> Lookup<K, (V, Option<FileEntry>)> {
        let (key, files) = match self.derived.find::<K>() {
            Found::Whole(key, files) if fits(&key) => (key, files),
            Found::Whole(..) => return Lookup::Unfit,
            Found::Damaged(what) => return Lookup::Damaged(what),
            Found::Missing => return Lookup::Missing,
        };
        // The files have been verified; only another version's format would not be understood.
        let mut files = files.into_iter();
        let Some(file) = files.next() else { return Lookup::Missing };
        match self.derived.map(&file).map(|bytes| postcard::from_bytes(&bytes)) {
            Ok(Ok(value)) => Lookup::Whole(key, (value, files.next())),
            Ok(Err(error)) => Lookup::Damaged(error.to_string()),
            Err(error) => Lookup::Damaged(error.to_string()),
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
        self.put_with(key, value, None)
    }

    /// The same, beside a file of the structure that was written before.
    ///
    /// # Errors
    /// The write failed.
    pub(super) fn put_with<K: Serialize, V: Serialize>(
        &self,
        key: &K,
        value: &V,
        beside: Option<FileEntry>,
    ) -> Result<(), StoreError> {
        let generation = self.store.manifest().generation;
        let name = format!("{}-{generation:06}.bin", self.name);
        let entry = self
            .derived
            .write(&name, |out| postcard::to_io(value, out).map(drop).map_err(io::Error::other))?;
        self.derived.publish(key, std::iter::once(entry).chain(beside).collect())
    }
}
