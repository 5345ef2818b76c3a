//! What is no header is refused.

use super::*;

fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn check_bytes(bytes: &[u8]) -> Result<(Values, u64)> {
    let length = bytes.len() as u64;
    let mut reader = Reader {
        bytes,
        left: length,
    };
    read_header(&mut reader)
}

#[test]
fn a_file_that_is_no_gguf_is_invalid() {
    for bytes in [b"".as_slice(), b"GG", b"<html>404 not found</html>"] {
        assert_eq!(check_bytes(bytes).unwrap_err().kind(), ErrorKind::Invalid);
    }
}

#[test]
fn counts_that_the_file_cannot_hold_are_corrupt() {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(3_u32.to_le_bytes());
    bytes.extend(1_u64.to_le_bytes());
    let mut many_pairs = bytes.clone();
    many_pairs.extend(u64::MAX.to_le_bytes());
    let mut long_key = bytes.clone();
    long_key.extend(1_u64.to_le_bytes());
    long_key.extend((1_u64 << 40).to_le_bytes());
    long_key.extend([0; 64]);
    let mut list_of_lists = bytes.clone();
    list_of_lists.extend(1_u64.to_le_bytes());
    text(&mut list_of_lists, "key");
    list_of_lists.extend(9_u32.to_le_bytes());
    list_of_lists.extend(9_u32.to_le_bytes());
    list_of_lists.extend([0; 64]);
    for bytes in [bytes, many_pairs, long_key, list_of_lists] {
        assert_eq!(check_bytes(&bytes).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn an_unknown_version_is_unsupported() {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend([0; 64]);
    let error = check_bytes(&bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}
