//! What other batches would have earned, and how well chances were predicted: off-policy evaluation, from what
//! became of the batch that was fetched.

pub(crate) mod calibration;
pub(crate) mod counterfactual;
pub(crate) mod targets;
