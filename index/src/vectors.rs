//! Vectors of short texts by an embedding model, for cosines: kept by the hash of the text, each number
//! in 8 bits.
//!
//! A vector is divided by its largest number and rounded to steps of 1/127 of that, so a cosine is off by
//! less than 0.01, and products are whole numbers: the same bits in every run, whatever the machine adds
//! up first.
//!
//! As a derived structure a table is a few files of rows, each of hash (16 bytes), length of the
//! rounded vector (4, binary32) and its numbers; what is new goes to a file of its own, and many files
//! become one. All of it is read into memory: about 80 bytes a text and one for each number.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::derived::{Derived, Found};
use crate::error::StoreError;
use crate::page_store::NONE;
use crate::storage::FileEntry;

/// Largest rounded number.
const STEPS: f32 = 127.0;
/// Files of rows that are not made one.
const MOST_FILES: usize = 8;
/// Bytes of a row before its numbers.
const ROW_START: usize = 16 + 4;

/// A vector of a table.
#[derive(Clone, Copy, Debug)]
pub struct Vector<'a> {
    /// Its length; 0 where all numbers are.
    length: f32,
    values: &'a [i8],
}

impl Vector<'_> {
    /// Cosine of the angle to another vector of as many numbers, in [-1, 1]; 0 where one has no length.
    pub fn cosine(self, other: Vector<'_>) -> f32 {
        let both = self.length * other.length;
        let products = self.values.iter().zip(other.values);
        let sum: i32 = products.map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
        if both > 0.0 { (sum as f32 / both).clamp(-1.0, 1.0) } else { 0.0 }
    }

    /// Adds the vector, made of length `weight`, to as many numbers.
    pub fn add_to(self, sum: &mut [f64], weight: f64) {
        if self.length > 0.0 {
            let scale = weight / f64::from(self.length);
            sum.iter_mut().zip(self.values).for_each(|(sum, &own)| *sum += scale * f64::from(own));
        }
    }

    /// Its product with as many numbers, once it is made of length 1; 0 where it has no length. With a sum of vectors
    /// ([`Vector::add_to`]) that is the sum of weights times cosines, up to rounding.
    pub fn along(self, direction: &[f64]) -> f64 {
        let products = self.values.iter().zip(direction).map(|(&own, to)| f64::from(own) * to);
        let sum = products.fold(0.0, |sum, product| sum + product);
        if self.length > 0.0 { sum / f64::from(self.length) } else { 0.0 }
    }
}

/// See the module.
///
/// ```
/// use prospect_index::page_store::NONE;
/// use prospect_index::vectors::VectorTable;
///
/// let mut table = VectorTable::new(2);
/// table.add("crawler", &[3.0, 0.0]);
/// table.add("spider", &[4.0, 4.0]);
/// let cosine = |a, b| table.vector(table.row(a)).cosine(table.vector(table.row(b)));
/// assert_eq!(cosine("crawler", "crawler"), 1.0);
/// assert!((cosine("crawler", "spider") - 0.5_f32.sqrt()).abs() < 0.01);
/// assert_eq!(table.row("robot"), NONE);
/// ```
#[derive(Clone, Debug, Default)]
pub struct VectorTable {
    dimension: usize,
    /// By the hash of a text: its row.
    rows: HashMap<u128, u32>,
    /// By row.
    keys: Vec<u128>,
    lengths: Vec<f32>,
    values: Vec<i8>,
    /// Files that the first rows are in, and how many those are.
    files: Vec<FileEntry>,
    written: usize,
}

/// What the files are of.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Key {
    /// Fingerprint of the model.
    model: String,
    dimension: usize,
}

impl VectorTable {
    /// No text yet, for vectors of so many numbers.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, ..Self::default() }
    }

    /// The vectors of a model, given by fingerprint, that are kept, or none; `dimension` is that of the
    /// model if it is at hand. If there were some that cannot be read, also why.
    pub fn open(
        derived: &Derived<'_>,
        model: &str,
        dimension: Option<usize>,
    ) -> (Self, Option<String>) {
        let empty = || Self::new(dimension.unwrap_or(0));
        let (key, files) = match derived.find::<Key>() {
            Found::Whole(key, files) => (key, files),
            Found::Damaged(what) => return (empty(), Some(what)),
            Found::Missing => return (empty(), None),
        };
        if key.model != model || dimension.is_some_and(|dimension| dimension != key.dimension) {
            return (empty(), None);
        }
        let mut table = Self::new(key.dimension);
        for file in &files {
            match derived.storage().read(&file.file) {
                Ok(bytes) => table.read(&bytes),
                Err(error) => return (empty(), Some(error.to_string())),
            }
        }
        (table.files, table.written) = (files, table.keys.len());
        (table, None)
    }

    /// Keeps the vectors of a model, given by fingerprint, in the place of those of another one.
    ///
    /// # Errors
    /// The write failed.
    pub fn save(&mut self, derived: &Derived<'_>, model: &str) -> Result<(), StoreError> {
        if self.written == self.keys.len() {
            return Ok(());
        }
        let from = if self.files.len() < MOST_FILES { self.written } else { 0 };
        let row = ROW_START + self.dimension;
        let mut bytes = Vec::with_capacity((self.keys.len() - from) * row);
        for at in from..self.keys.len() {
            bytes.extend(self.keys[at].to_le_bytes());
            bytes.extend(self.lengths[at].to_le_bytes());
            bytes.extend(self.vector(at as u32).values.iter().map(|value| value.to_le_bytes()[0]));
        }
        // No two states of a table have as many rows.
        let name = format!("{}/rows-{from:09}-{:09}.bin", derived.directory(), self.keys.len());
        // Waited for, since only who has the model can make them again.
        let file = derived.storage().write(&name, &bytes)?;
        let mut files = if from == 0 { Vec::new() } else { self.files.clone() };
        files.push(file);
        let key = Key { model: model.to_owned(), dimension: self.dimension };
        derived.publish_for_good(&key, files.clone())?;
        (self.files, self.written) = (files, self.keys.len());
        Ok(())
    }

    fn read(&mut self, bytes: &[u8]) {
        for row in bytes.chunks_exact(ROW_START + self.dimension) {
            let (start, values) = row.split_at(ROW_START);
            let Some((key, length)) = start.split_first_chunk() else { continue };
            let length = length.first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
            let values = values.iter().map(|&byte| i8::from_le_bytes([byte]));
            self.push(u128::from_le_bytes(*key), length, values);
        }
    }

    fn push(&mut self, key: u128, length: f32, values: impl Iterator<Item = i8>) {
        if self.rows.contains_key(&key) {
            return;
        }
        self.rows.insert(key, self.keys.len() as u32);
        self.keys.push(key);
        self.lengths.push(length);
        self.values.extend(values);
    }

    /// Adds a text with its vector, if it is new.
    ///
    /// # Panics
    /// If the vector has not as many numbers as the others.
    pub fn add(&mut self, text: &str, vector: &[f32]) {
        assert_eq!(vector.len(), self.dimension, "a table is of one model");
        let most = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let step = if most > 0.0 { STEPS / most } else { 0.0 };
        let values: Vec<i8> = vector.iter().map(|value| (value * step).round() as i8).collect();
        let squares: i32 = values.iter().map(|&value| i32::from(value) * i32::from(value)).sum();
        self.push(key(text), (squares as f32).sqrt(), values.into_iter());
    }

    /// Adds a text as it is in another table of the same model, if it is there.
    pub fn copy(&mut self, text: &str, other: &Self) {
        let row = other.row(text);
        if row != NONE {
            let Vector { length, values } = other.vector(row);
            self.push(key(text), length, values.iter().copied());
        }
    }

    /// Numbers in one vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The row of a text; [`NONE`] if it has none.
    pub fn row(&self, text: &str) -> u32 {
        self.rows.get(&key(text)).copied().unwrap_or(NONE)
    }

    /// The vector of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn vector(&self, row: u32) -> Vector<'_> {
        let start = row as usize * self.dimension;
        let values = &self.values[start..start + self.dimension];
        Vector { length: self.lengths[row as usize], values }
    }

    /// Texts.
    pub fn len(&self) -> usize {
        self.keys.len()
    }
}

fn key(text: &str) -> u128 {
    xxh3_128(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Storage;

    /// A vector of 40 numbers that depends on `seed` alone.
    fn vector(seed: u32) -> Vec<f32> {
        (0..40)
            .map(|at| {
                let mixed = (seed * 97 + at + 1).wrapping_mul(2_654_435_761);
                (mixed >> 16) as f32 / 65_536.0 - 0.4
            })
            .collect()
    }

    fn exact(a: &[f32], b: &[f32]) -> f32 {
        let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        product(a, b) / (product(a, a) * product(b, b)).sqrt()
    }

    #[test]
    fn cosines_are_those_of_the_vectors_up_to_rounding() {
        let mut table = VectorTable::new(40);
        for seed in 0..30 {
            table.add(&format!("text {seed}"), &vector(seed));
        }
        table.add("nothing", &[0.0; 40]);
        table.add("text 3", &vector(99));
        assert_eq!(table.len(), 31);
        let row = |text: &str| table.vector(table.row(text));
        for seed in 0..30 {
            let cosine = row("text 3").cosine(row(&format!("text {seed}")));
            assert!((cosine - exact(&vector(3), &vector(seed))).abs() < 0.01, "{seed}: {cosine}");
        }
        assert!((row("text 7").cosine(row("text 7")) - 1.0).abs() < 1e-6);
        assert_eq!(row("text 7").cosine(row("nothing")), 0.0);
        let mut direction = vec![0.0; 40];
        for (text, weight) in [("text 1", 0.5), ("text 2", 2.0), ("nothing", 7.0)] {
            row(text).add_to(&mut direction, weight);
        }
        let cosine = |text: &str| f64::from(row("text 9").cosine(row(text)));
        let sum = 0.5 * cosine("text 1") + 2.0 * cosine("text 2");
        assert!((row("text 9").along(&direction) - sum).abs() < 1e-5);
        assert_eq!(row("nothing").along(&direction), 0.0);
        assert_eq!(table.row("text 31"), NONE);
    }

    #[test]
    fn vectors_come_back_from_however_many_files() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::create(folder.path()).unwrap();
        let manifest = crate::manifest::Manifest::default();
        let derived = Derived::new(&storage, &manifest, "vectors", 1);
        let mut table = VectorTable::open(&derived, "m", Some(40)).0;
        for seed in 0..40 {
            table.add(&format!("text {seed}"), &vector(seed));
            table.save(&derived, "m").unwrap();
            let (again, problem) = VectorTable::open(&derived, "m", None);
            assert_eq!((again.len(), problem), (seed as usize + 1, None));
            assert_eq!((&again.values, &again.lengths), (&table.values, &table.lengths));
            assert_eq!(again.row("text 0"), 0);
        }
        assert!(storage.list("derived/vectors").unwrap().len() <= MOST_FILES + 1);
        assert!(VectorTable::open(&derived, "another", None).0.len() == 0);
        assert!(VectorTable::open(&derived, "m", Some(41)).0.len() == 0);

        let file = &table.files[0].file;
        let mut bytes = storage.read(file).unwrap();
        bytes[30] ^= 1;
        std::fs::write(storage.path(file), bytes).unwrap();
        let (damaged, problem) = VectorTable::open(&derived, "m", Some(40));
        assert!(damaged.len() == 0 && problem.is_some());
    }
}
