//! Parts that need the contracts alone.
