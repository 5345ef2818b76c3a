//! The executable contract of each trait: a named case for each rule in its documentation.
