//! The strings of one URL while they are collected: token ids, distinct, in a canonical order.

/// Strings of token ids; emptied and used again for every URL.
#[derive(Default)]
pub(super) struct PageStrings {
    ids: Vec<u32>,
    /// End of each string in `ids`; a string starts where the one before it ends.
    ends: Vec<usize>,
    order: Vec<u32>,
}

impl PageStrings {
    /// Forgets all strings.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.ends.clear();
    }

    /// Appends a token to the string that is open.
    pub(crate) fn push(&mut self, id: u32) {
        self.ids.push(id);
    }

    /// Closes the open string; one without tokens is no string.
    pub(crate) fn end_string(&mut self) {
        if self.ids.len() > self.ends.last().copied().unwrap_or(0) {
            self.ends.push(self.ids.len());
        }
    }

    /// Calls `take` with every distinct string, in ascending order of ids.
    pub(crate) fn for_each_distinct<E>(
        &mut self,
        mut take: impl FnMut(&[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..self.ends.len() as u32);
        order.sort_unstable_by(|&a, &b| self.string(a).cmp(self.string(b)));
        let mut previous: Option<u32> = None;
        for &at in &order {
            let string = self.string(at);
            if previous.is_none_or(|previous| self.string(previous) != string) {
                take(string)?;
            }
            previous = Some(at);
        }
        self.order = order;
        Ok(())
    }

    fn string(&self, at: u32) -> &[u32] {
        let at = at as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.ids[start..self.ends[at]]
    }
}
