//! Selection: scores, the gate, exploration. 'Inject nothing' is an answer like any other.
