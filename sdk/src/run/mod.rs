//! The machines of a run, and the one loop that awaits.
