//! Values that were seen of something, and their mean as far as they say it.

/// Values seen: their sum and number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RunningMean {
    sum: f64,
    count: u32,
}

impl RunningMean {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    /// Whether nothing was seen.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of values.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Their mean, if there is one.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }

    /// Their mean drawn towards `prior`, as if `strength` values of it had been seen.
    pub(crate) fn towards(&self, prior: f64, strength: f64) -> f64 {
        (self.sum + strength * prior) / (f64::from(self.count) + strength)
    }
}
