//! Admission: what lets a draft into the library.
