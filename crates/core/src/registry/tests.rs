//! Names, hashes and what is refused.

use super::*;
use crate::actor::{BoxError, SpawnContext};

/// An actor that is registered by hand, under a name that a test chooses.
struct Named<const N: usize>;

impl<const N: usize> kameo::Actor for Named<N> {
    type Args = Self;
    type Error = kameo::error::Infallible;

    async fn on_start(this: Self, _: kameo::actor::ActorRef<Self>) -> Result<Self, Self::Error> {
        Ok(this)
    }
}

const LONG: &str = match std::str::from_utf8(&[b'x'; 256]) {
    Ok(text) => text,
    Err(_) => "",
};
const NAMES: [&str; 5] = ["test::One", "test::One", "", LONG, "test::Two"];

macro_rules! named {
    ($($n:literal: $init:ty),*) => {$(
        impl RemoteActor for Named<$n> {
            const NAME: &'static str = NAMES[$n];
            type Init = $init;

            async fn build(_: $init, _: &SpawnContext) -> Result<Self, BoxError> {
                Ok(Self)
            }
        }
    )*};
}

named!(0: u8, 1: u16, 2: u8, 3: u8, 4: u8);

fn names(registry: &Registry) -> Vec<&str> {
    registry.rows().iter().map(|row| row.name.as_str()).filter(|name| name.starts_with("test::")).collect()
}

#[test]
fn rows_by_hand_are_sorted_and_may_be_repeated() {
    let (one, two) = (ActorEntry::of::<Named<0>>(), ActorEntry::of::<Named<4>>());
    let registry = Registry::build(&[two, one, one], &[]).unwrap();
    assert_eq!(names(&registry), ["test::One", "test::Two"]);
    assert!(registry.has_actor::<Named<0>>());
}

#[test]
fn one_name_for_two_shapes_is_refused() {
    let rows = [ActorEntry::of::<Named<0>>(), ActorEntry::of::<Named<1>>()];
    let refused = Registry::build(&rows, &[]).unwrap_err();
    assert_eq!(refused, RegistryError::Duplicate { name: "test::One".into() });
}

#[test]
fn empty_and_long_names_are_refused() {
    for row in [ActorEntry::of::<Named<2>>(), ActorEntry::of::<Named<3>>()] {
        assert!(matches!(Registry::build(&[row], &[]), Err(RegistryError::BadName { .. })));
    }
}

#[test]
fn the_hash_is_fnv_1a() {
    // From the test vectors of draft-eastlake-fnv, appendix C.
    assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
}
