//! Roles: a prompt and a parser, each readable and replaceable by the host.
