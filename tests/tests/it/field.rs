//! What models really write is read, and what is damaged is asked for again.

use journeyman::Seed;
use journeyman_tests::field::{FAMILIES, read_damaged, read_family};

#[test]
fn the_calls_of_each_family_are_read_back() {
    for family in &FAMILIES {
        for is_native in [true, false] {
            assert!(
                read_family(family, is_native),
                "{} {is_native}",
                family.name
            );
        }
    }
}

#[test]
fn no_damaged_answer_is_a_fault() {
    let found = read_damaged(Seed(1_000), 3_000);
    assert_eq!(
        (found.answers, found.panics, found.faults),
        (3_000, 0, 0),
        "{found:?}"
    );
    assert!(found.acted > 1.0 && found.asked > 1.0, "{found:?}");
}
