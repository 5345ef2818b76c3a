//! Text without a model: JSON out of prose, clipping, similarity.
