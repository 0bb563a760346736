//! Lists of cells by number.

use super::image::{ImageReader, ImageWriter};
use super::{Cell, Column};
use crate::error::StoreError;

/// Lists of cells, one behind the other in the order of their numbers. Costs the cells and 8 bytes a list.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    cells: Column<T>,
    /// Where each list ends.
    ends: Column<u64>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { cells: Column::default(), ends: Column::default() }
    }
}

impl<T: Cell> Lists<T> {
    /// How many lists there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many cells they have together.
    pub(crate) fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The list of a number; nothing if there is none.
    pub(crate) fn of(&self, number: usize) -> &[T] {
        let Some(end) = self.ends.get(number) else { return &[] };
        let start = number.checked_sub(1).map_or(0, |before| self.ends.at(before));
        self.cells.run(start as usize, end as usize)
    }

    /// Adds a list, whose number is how many there were.
    pub(crate) fn push(&mut self, list: &[T]) {
        self.cells.extend(list);
        self.ends.push(self.cells.len() as u64);
    }

    pub(crate) fn write(&self, image: &mut ImageWriter, name: &str) -> Result<(), StoreError> {
        image.column(name, &[self.cells.mapped(), self.cells.tail()])?;
        image.column(&format!("{name}-ends"), &[self.ends.mapped(), self.ends.tail()])
    }

    pub(crate) fn read(image: &ImageReader, name: &str) -> Option<Self> {
        let (cells, ends) = (image.column(name)?, image.column::<u64>(&format!("{name}-ends"))?);
        let lists = Self { cells, ends };
        let end = lists.ends.mapped().last().copied().unwrap_or(0);
        (end == lists.cells.len() as u64).then_some(lists)
    }
}
