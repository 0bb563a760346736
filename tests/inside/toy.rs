//! An embedding model without a network.

use crate::neural::{Embedder, NeuralError};

/// A model for tests: numbers that depend on the words of a text.
pub struct Toy;

impl Embedder for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn fingerprint(&self) -> &'static str {
        "toy 1"
    }

    fn dimension(&self) -> usize {
        8
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        let number = |word: &str, at: u32| {
            let sum: u32 = word.bytes().map(u32::from).sum();
            (((sum * 31 + at * 17 + 3) % 29) as f32 - 9.0) / 20.0
        };
        let vector = |text: &&str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            (0..8).map(|at| words.iter().map(|word| number(word, at)).sum()).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}
