//! Credit: what each exposure earned.
