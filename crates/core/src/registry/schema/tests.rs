//! Shapes of types whose text is written here by hand.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::*;

#[derive(Serialize, Deserialize)]
struct Add(u64);

#[derive(Serialize, Deserialize)]
struct Tree {
    value: u32,
    children: Vec<Tree>,
    parent: Option<Box<Tree>>,
}

#[derive(Serialize, Deserialize)]
enum Shape {
    Empty,
    Circle(f64),
    Rect { w: f64, h: f64 },
    Group(Vec<Shape>),
}

#[derive(Serialize, Deserialize)]
struct Settings(NonZeroU32, String, BTreeMap<String, u8>);

#[test]
fn shapes_are_written_out() {
    assert_eq!(of::<u64>(), "u64");
    assert_eq!(of::<()>(), "unit");
    assert_eq!(of::<Add>(), "Add(u64)");
    assert_eq!(of::<Tree>(), "Tree { value: u32, children: Tree*, parent: Tree? }");
    assert_eq!(of::<Shape>(), "Shape = Empty | Circle(f64) | Rect { w: f64, h: f64 } | Group(Shape*)");
    assert_eq!(of::<Settings>(), "Settings(u32, str, {str: u8})");
    assert_eq!(of::<Vec<(u8, Option<i64>)>>(), "(u8, i64?)*");
}

#[test]
fn a_field_more_is_another_shape() {
    mod other {
        #[derive(serde::Deserialize)]
        #[expect(dead_code, reason = "only its shape matters")]
        pub(super) struct Add(u64, u64);
    }
    assert_ne!(of::<Add>(), of::<other::Add>());
}

#[test]
fn what_refuses_to_be_probed_goes_by_its_name() {
    struct Picky;
    impl<'de> Deserialize<'de> for Picky {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = String::deserialize(deserializer)?;
            assert!(text.starts_with("picky:"), "a Deserialize that panics");
            Ok(Self)
        }
    }
    assert!(of::<Picky>().starts_with("opaque "), "{}", of::<Picky>());
}

#[test]
fn a_long_shape_is_cut_and_still_differs() {
    type Wide<T> = ([(u8, u16, u32, u64, T); 3], (T, T, T), [T; 5], [(T, [T; 6]); 9]);
    type Wider<T> = (Wide<T>, Wide<(Wide<T>, Wide<T>)>, Wide<(T, Wide<T>)>);
    let (a, b) = (of::<Wider<u8>>(), of::<Wider<u16>>());
    assert!(a.len() <= SCHEMA_BYTES_MAX && b.len() <= SCHEMA_BYTES_MAX, "{} {}", a.len(), b.len());
    assert_ne!(a, b);
}
