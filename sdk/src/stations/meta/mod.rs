//! Meta learning: decides from the results of the skills that a role wrote which rules the role writes by (HiSME 3.4, Eq. 17,
//! algorithm 5; rows H13, H14). Its options are [`EvolvePolicy`](crate::stations::maintain::EvolvePolicy).

pub(crate) mod rules;
