//! Kind `sentence-embedding`: a text as a vector, and, with a linear head, as a score.

use serde::Deserialize;

use super::NeuralError;
use super::backend::{ModelEngine, WorkerOutput};
use super::classifier::TextRows;
use super::probe;
use super::scores::log_sigmoid;
use super::settings::Pooling;
use super::source::ModelFile;
use super::tokens::TokenRow;

/// Turns texts into vectors.
pub(crate) struct SentenceEncoder {
    rows: TextRows,
    engine: ModelEngine,
    pooling: Pooling,
    normalize: bool,
    dimension: usize,
}

/// The output that a graph must have.
pub(crate) fn output(pooling: Pooling) -> (&'static str, usize) {
    match pooling {
        Pooling::None => ("embedding", 2),
        Pooling::Mean | Pooling::Cls => ("last_hidden_state", 3),
    }
}

impl SentenceEncoder {
    /// Tries the graph.
    pub(crate) fn new(
        rows: TextRows,
        engine: ModelEngine,
        pooling: Pooling,
        normalize: bool,
    ) -> Result<Self, NeuralError> {
        let mut embedding = Self { rows, engine, pooling, normalize, dimension: 0 };
        for text in probe::texts(embedding.engine.max_tokens()) {
            let tokens = embedding.rows.row(&text)?;
            let output = embedding.engine.run(&tokens)?;
            embedding.check_shape(&output, tokens.ids.len())?;
            embedding.dimension = output.shape.last().copied().unwrap_or(0);
        }
        Ok(embedding)
    }

    fn check_shape(&mut self, output: &WorkerOutput, tokens: usize) -> Result<(), NeuralError> {
        let (name, _) = self::output(self.pooling);
        let found = output.shape.as_slice();
        let (fits, expected) = match self.pooling {
            Pooling::None => {
                (matches!(found, [1, dimension] if *dimension > 0), "[1, dimension]".to_owned())
            }
            _ => (
                matches!(found, [1, length, dimension] if *length >= tokens && *dimension > 0),
                format!("[1, {tokens} or more, dimension]"),
            ),
        };
        let same = self.dimension == 0 || found.last() == Some(&self.dimension);
        if fits && same {
            return Ok(());
        }
        Err(self.engine.refuse(format!(
            "expected the output {name} of a text of {tokens} tokens to be {expected}; found {found:?}"
        )))
    }

    /// Numbers in one vector.
    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// The vector of each text.
    pub(crate) fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        let vector = |row: &TokenRow, values: &[f32]| {
            self.pooled(values, row.ids.len()).into_iter().map(|x| x as f32).collect()
        };
        self.engine.each_row(texts, |text| self.rows.row(text), vector)
    }

    /// One vector from the vectors of `tokens` tokens, of which more may follow that are padding.
    fn pooled(&self, values: &[f32], tokens: usize) -> Vec<f64> {
        let mut vector = vec![0.0; self.dimension];
        let read = match self.pooling {
            Pooling::Mean => tokens,
            Pooling::Cls | Pooling::None => 1,
        };
        for token in values.chunks_exact(self.dimension).take(read) {
            for (sum, x) in vector.iter_mut().zip(token) {
                *sum += f64::from(*x) / read as f64;
            }
        }
        if self.normalize {
            let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length > 0.0 {
                for x in &mut vector {
                    *x /= length;
                }
            }
        }
        vector
    }
}

/// `head.json`: a logit from a vector.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    weights: Vec<f64>,
    bias: f64,
}

impl Head {
    /// Reads the head and holds it against the vectors.
    pub(crate) fn read(part: &ModelFile, dimension: usize) -> Result<Self, NeuralError> {
        let refuse = |problem: String| NeuralError::Model { file: part.name.clone(), problem };
        let head: Self = serde_json::from_slice(&part.bytes).map_err(|error| {
            refuse(format!("expected {{\"weights\": [..], \"bias\": number}}: {error}"))
        })?;
        if head.weights.len() != dimension {
            let found = head.weights.len();
            return Err(refuse(format!(
                "expected {dimension} weights, as many as the vectors have; found {found}"
            )));
        }
        Ok(head)
    }

    /// Log odds of "good" by a vector.
    fn logit(&self, vector: &[f32]) -> f64 {
        let products = vector.iter().zip(&self.weights).map(|(x, w)| f64::from(*x) * w);
        products.sum::<f64>() + self.bias
    }
}

/// An embedding with its head.
pub(crate) struct HeadedEmbedding {
    pub(crate) embedding: SentenceEncoder,
    pub(crate) head: Head,
}

impl HeadedEmbedding {
    /// Log-probability of "good" for each text.
    pub(crate) fn score(&self, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        let vectors = self.embedding.embed(texts)?;
        Ok(vectors.iter().map(|vector| log_sigmoid(self.head.logit(vector))).collect())
    }
}
