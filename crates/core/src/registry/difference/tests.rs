//! Differences between lists written by hand.

use super::*;

fn rows(rows: &[(&str, &str)]) -> Vec<RegistryRow> {
    rows.iter().map(|(name, schema)| RegistryRow { name: (*name).into(), schema: (*schema).into() }).collect()
}

#[test]
fn equal_lists_have_no_difference() {
    let list = rows(&[("a", "1"), ("b", "2")]);
    assert_eq!(RegistryDifference::between(&list, &list), None);
    assert_eq!(RegistryDifference::between(&[], &[]), None);
}

#[test]
fn each_kind_of_difference_is_named() {
    let here = rows(&[("a", "1"), ("b", "2"), ("d", "4")]);
    let there = rows(&[("b", "x"), ("c", "3"), ("d", "4")]);
    let difference = RegistryDifference::between(&here, &there).unwrap();
    assert_eq!(
        difference,
        RegistryDifference {
            only_here: vec!["a".into()],
            only_there: vec!["c".into()],
            shapes: vec![("b".into(), "2".into(), "x".into())],
            more: 0,
        }
    );
    assert_eq!(RegistryDifference::between(&there, &here), Some(difference.clone().flipped()));
    let text = difference.to_string();
    for part in [
        "only this side registers a",
        "only the other side registers c",
        "b is `2` on this side and `x`",
        "use that_crate as _",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn a_flood_of_differences_is_counted_not_listed() {
    let names: Vec<String> = (0..1000).map(|i| format!("a{i:04}")).collect();
    let here = rows(&names.iter().map(|n| (n.as_str(), "")).collect::<Vec<_>>());
    let difference = RegistryDifference::between(&here, &[]).unwrap();
    assert_eq!((difference.only_here.len(), difference.more), (NAMES_SHOWN, 1000 - NAMES_SHOWN));
    assert!(difference.to_string().len() < 1000);
}
