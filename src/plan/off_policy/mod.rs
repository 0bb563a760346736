//! What other batches would have earned, and how well chances were predicted: off-policy evaluation, from what
//! became of the batch that was fetched.

pub mod calibration;
pub mod counterfactual;
pub mod targets;
