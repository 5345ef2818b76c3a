//! Scripted doubles, for the logic of machines and for faults. Never a default.
