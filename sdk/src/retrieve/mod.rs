//! Retrieval: queries and the candidates that go to selection.
