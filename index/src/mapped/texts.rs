//! Texts by number, and numbers by text.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::Column;
use super::image::{ImageReader, ImageWriter};
use crate::error::StoreError;

/// A place of [`Strings::slots`] that is free.
const FREE: u32 = u32::MAX;

/// Texts in the order in which they came. Costs their bytes and 8 each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    /// Bytes of those in the file.
    mapped: Column<u8>,
    tail: String,
    /// Where each ends, in all bytes.
    ends: Column<u64>,
}

impl Texts {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text of a number.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn text(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends.at(before) as usize);
        let (end, mapped) = (self.ends.at(number) as usize, self.mapped.len());
        if end > mapped {
            return &self.tail[start - mapped..end - mapped];
        }
        // What was written was text, and has been verified since.
        std::str::from_utf8(&self.mapped.mapped()[start..end]).unwrap_or_default()
    }

    /// Adds a text, whose number is how many there were.
    pub(crate) fn push(&mut self, text: &str) {
        self.tail.push_str(text);
        self.ends.push((self.mapped.len() + self.tail.len()) as u64);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|number| self.text(number))
    }

    pub(crate) fn write(&self, image: &mut ImageWriter, name: &str) -> Result<(), StoreError> {
        image.column(&format!("{name}-text"), &[self.mapped.mapped(), self.tail.as_bytes()])?;
        image.column(&format!("{name}-ends"), &[self.ends.mapped(), self.ends.tail()])
    }

    pub(crate) fn read(image: &ImageReader, name: &str) -> Option<Self> {
        let mapped: Column<u8> = image.column(&format!("{name}-text"))?;
        let ends: Column<u64> = image.column(&format!("{name}-ends"))?;
        let end = ends.mapped().last().copied().unwrap_or(0);
        (end == mapped.len() as u64).then_some(Self { mapped, tail: String::new(), ends })
    }
}

/// Distinct texts, numbered in the order in which they came.
///
/// Costs what [`Texts`] do, and some 8 bytes each for the way back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strings {
    texts: Texts,
    /// Numbers of those in the file at the places that their hashes say, or the next free ones.
    slots: Column<u32>,
    /// Numbers of those that came since.
    lookup: HashTable<u32>,
}

impl Strings {
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The text of a number.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn text(&self, number: u32) -> &str {
        self.texts.text(number as usize)
    }

    /// The number of a text.
    pub(crate) fn get(&self, text: &str) -> Option<u32> {
        let (hash, slots) = (hash_of(text), self.slots.mapped());
        let mut taken = probe(slots.len(), hash).map(|at| slots[at]).take_while(|&n| n != FREE);
        let same = |number: &u32| self.text(*number) == text;
        taken.find(same).or_else(|| self.lookup.find(hash, same).copied())
    }

    /// The number of a text, given now if it has none, and whether it was.
    pub(crate) fn insert(&mut self, text: &str) -> (u32, bool) {
        if let Some(number) = self.get(text) {
            return (number, false);
        }
        let number = self.texts.len() as u32;
        self.texts.push(text);
        let Self { texts, lookup, .. } = self;
        lookup.insert_unique(hash_of(text), number, |&n| hash_of(texts.text(n as usize)));
        (number, true)
    }

    pub(crate) fn write(&self, image: &mut ImageWriter, name: &str) -> Result<(), StoreError> {
        self.texts.write(image, name)?;
        let mut slots = vec![FREE; (self.len() * 4 / 3 + 1).next_power_of_two()];
        for (number, text) in (0..).zip(self.texts.iter()) {
            let free = probe(slots.len(), hash_of(text)).find(|&at| slots[at] == FREE);
            // There are more places than texts.
            slots[free.unwrap_or_default()] = number;
        }
        image.column(&format!("{name}-slots"), &[&slots])
    }

    pub(crate) fn read(image: &ImageReader, name: &str) -> Option<Self> {
        let texts = Texts::read(image, name)?;
        let slots: Column<u32> = image.column(&format!("{name}-slots"))?;
        let fits = slots.len().is_power_of_two() && slots.len() > texts.len();
        fits.then_some(Self { texts, slots, lookup: HashTable::new() })
    }
}

fn hash_of(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// Places among `slots`, a power of two, in the order in which a hash asks for them.
fn probe(slots: usize, hash: u64) -> impl Iterator<Item = usize> {
    (0..slots).map(move |step| (hash as usize).wrapping_add(step) & (slots - 1))
}
