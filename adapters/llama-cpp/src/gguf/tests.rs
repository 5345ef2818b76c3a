//! Invalid headers are refused.

use std::collections::HashMap;

use journeyman::ErrorKind;

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

#[test]
fn numbers_of_experts_that_llama_cpp_asserts_on_are_corrupt() {
    let fits = |architecture: &str, numbers: [Option<i128>; 4]| {
        let names = [
            "expert_count",
            "expert_used_count",
            "expert_group_count",
            "expert_group_used_count",
        ];
        let values = names.into_iter().zip(numbers);
        let values = values.filter_map(|(name, number)| Some((name, Value::Number(number?))));
        let values: HashMap<&str, Value> = values.collect();
        check_experts(architecture, |name| values.get(name)).is_ok()
    };
    for (numbers, expected) in [
        ([None; 4], true),
        ([Some(0), Some(0), None, None], true),
        ([Some(8), Some(2), None, None], true),
        ([Some(8), Some(2), Some(1), None], true),
        ([Some(8), Some(2), Some(4), Some(2)], true),
        ([Some(1024), Some(1024), None, None], true),
        ([Some(1025), Some(2), None, None], false),
        ([Some(8), Some(9), None, None], false),
        ([Some(8), None, None, None], false),
        ([Some(8), Some(-1), None, None], false),
        ([None, Some(2), None, None], false),
        ([None, None, Some(1), None], false),
        ([Some(8), Some(2), Some(8), Some(2)], false),
        ([Some(8), Some(2), Some(3), Some(2)], false),
        ([Some(8), Some(2), Some(4), None], false),
        ([Some(8), Some(2), Some(4), Some(4)], false),
        ([Some(1), Some(0), None, None], false),
    ] {
        assert_eq!(fits("llama", numbers), expected, "{numbers:?}");
    }
    assert!(fits("hunyuan-dense", [Some(1), Some(0), None, None]));
    assert!(fits("hunyuan_vl", [Some(0), Some(2), None, None]));
    assert!(!fits("hunyuan-moe", [Some(1), Some(0), None, None]));
    assert!(!fits("hunyuan-dense", [Some(2), Some(0), None, None]));
    let each_layer = |largest| {
        let used = Value::Numbers {
            kind: 4,
            len: 2,
            largest,
        };
        let count = Value::Number(8);
        let own = |name: &str| match name {
            "expert_count" => Some(&count),
            "expert_used_count" => Some(&used),
            _ => None,
        };
        check_experts("llama", own).is_ok()
    };
    assert!(each_layer(8));
    assert!(!each_layer(9));
}

#[test]
fn lists_tell_their_largest_number() {
    let largest = |numbers: [i32; 3]| {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3_u32.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend(1_u64.to_le_bytes());
        text(&mut bytes, "split.count");
        bytes.extend(9_u32.to_le_bytes());
        bytes.extend(5_u32.to_le_bytes());
        bytes.extend(3_u64.to_le_bytes());
        bytes.extend(numbers.map(i32::to_le_bytes).concat());
        let mut reader = Reader {
            left: bytes.len() as u64,
            bytes: bytes.as_slice(),
        };
        reader.skip(24).unwrap();
        reader.text().unwrap();
        let kind = reader.u32().unwrap();
        match reader.value("key", kind).unwrap() {
            Value::Numbers { largest, .. } => largest,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(largest([1, 7, 3]), 7);
    assert_eq!(largest([1, -7, 3]), i128::MAX);
}
