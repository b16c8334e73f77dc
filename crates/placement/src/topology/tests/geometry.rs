//! Hosts, chips, coordinates, links: hand computations, and the invariants T1 and T2 over every shape.

use super::super::{Coord, Generation, SliceSpec, SubSliceError};
use super::{cases, every_spec, shape, spec};

fn at(x: u16, y: u16, z: u16) -> Coord {
    Coord::new(x, y, z)
}

#[test]
fn every_host_grid_of_the_cases() {
    for case in cases().host_grids {
        let generation = if case.host_grid.len() == 2 { "v6e" } else { "v4" };
        let topology = shape(&case.topology);
        // One host of eight is the usual 2x4; the grids of the cases are those of hosts of four.
        let spec = SliceSpec::reported(generation.parse().expect("a generation"), topology, Some(4));
        let grid = spec.expect("divides into hosts").host_grid();
        assert_eq!(grid.0[..case.host_grid.len()], case.host_grid[..], "{topology}");
    }
}

#[test]
fn t1_every_slice_divides_into_whole_hosts() {
    for spec in every_spec() {
        assert_eq!(spec.hosts() * spec.chips_per_host(), spec.chips(), "{spec}");
    }
}

#[test]
fn t2_workers_and_chips_have_one_coordinate_each() {
    for spec in every_spec() {
        let mut seen = vec![false; spec.chips() as usize];
        for worker in 0..spec.hosts() {
            let host = spec.host_at(worker).expect("a worker of the slice");
            assert_eq!(spec.worker_at(host), Some(worker));
            let chips = spec.chips_of(worker).expect("a worker of the slice");
            assert_eq!(spec.place_of(&chips), Ok(worker));
            for (number, &chip) in (0u8..).zip(&chips) {
                assert_eq!(spec.chip_at(worker, number), Some(chip));
                assert_eq!(spec.owner_of(chip), Some((worker, number)));
                let index = spec.chip_grid().index(chip).expect("inside") as usize;
                assert!(!std::mem::replace(&mut seen[index], true), "{spec} {chip} twice");
            }
        }
        assert!(seen.into_iter().all(|chip| chip), "{spec}");
        assert_eq!(spec.host_at(spec.hosts()), None);
        assert_eq!(spec.chip_at(0, spec.chips_per_host() as u8), None);
    }
}

#[test]
fn worker_ids_run_x_fastest() {
    let cube = spec("v4", "4x4x4");
    assert_eq!(cube.host_at(8), Some(at(0, 0, 2)));
    assert_eq!(cube.chips_of(1), Some(vec![at(2, 0, 0), at(3, 0, 0), at(2, 1, 0), at(3, 1, 0)]));
    let flat = spec("v6e", "4x4");
    assert_eq!(flat.chips_of(2), Some(vec![at(0, 2, 0), at(1, 2, 0), at(0, 3, 0), at(1, 3, 0)]));
}

#[test]
fn peer_a30_worker_dims() {
    let grid = |generation: &str, topology: &str| {
        let generation: Generation = generation.parse().expect("a generation");
        SliceSpec::reported(generation, shape(topology), Some(4)).expect("divides").host_grid().0
    };
    assert_eq!(grid("v6e", "2x4"), [1, 2, 1]);
    assert_eq!(grid("v6e", "4x4"), [2, 2, 1]);
    assert_eq!(grid("v6e", "8x16"), [4, 8, 1]);
    assert_eq!(grid("v4", "2x2x2"), [1, 1, 2]);
    assert_eq!(grid("v4", "4x4x4"), [2, 2, 4]);
}

#[test]
fn peer_a31_a_grid_that_hosts_do_not_tile_is_refused() {
    assert!(SliceSpec::parse("v6e", "99x99").is_err());
    assert!(SliceSpec::reported(Generation::V6e, shape("99x99"), Some(4)).is_err());
}

#[test]
fn peer_a32_default_chips_a_host() {
    let cases =
        [("v6e", "2x4", 8), ("v6e", "2x2", 4), ("v6e", "1x1", 1), ("v6e", "4x8", 4), ("v4", "2x2x2", 4)];
    for (generation, topology, chips) in cases {
        assert_eq!(spec(generation, topology).chips_per_host(), chips, "{generation} {topology}");
    }
}

#[test]
fn peer_a35_and_a36_coordinates_decide_the_place_of_a_host() {
    let flat = spec("v6e", "4x4");
    let square = |x: u16, y: u16| [at(x, y, 0), at(x + 1, y, 0), at(x, y + 1, 0), at(x + 1, y + 1, 0)];
    assert_eq!(flat.place_of(&square(0, 0)), Ok(0));
    assert_eq!(flat.place_of(&square(2, 0)), Ok(1));
    assert_eq!(flat.place_of(&square(0, 2)), Ok(2));
    assert_eq!(flat.place_of(&square(2, 2)), Ok(3));
    let one_host = spec("v6e", "2x4");
    let all: Vec<_> = one_host.chip_grid().coords().collect();
    assert_eq!(one_host.place_of(&all), Ok(0));
}

#[test]
fn peer_a37_places_in_three_dimensions_follow_the_new_axis_order() {
    // The peer's stored table uses its old (z, y, x) block; with hosts of 2x2x1 the same three corners are these.
    let cube = spec("v4", "4x4x4");
    let host = |x: u16, y: u16, z: u16| [at(x, y, z), at(x + 1, y, z), at(x, y + 1, z), at(x + 1, y + 1, z)];
    assert_eq!(cube.place_of(&host(0, 0, 0)), Ok(0));
    assert_eq!(cube.place_of(&host(2, 0, 0)), Ok(1));
    assert_eq!(cube.place_of(&host(0, 0, 2)), Ok(8));
}

#[test]
fn peer_a38_a_coordinate_outside_the_slice_is_an_error() {
    let outside = spec("v6e", "4x4").place_of(&[at(99, 0, 0)]).expect_err("x = 99");
    assert!(matches!(outside, SubSliceError::OutOfBounds { .. }));
    assert!(outside.to_string().contains("out of bounds"));
    assert!(spec("v4", "4x4x4").place_of(&[at(0, 0, 99)]).is_err());
}

#[test]
fn chips_that_are_no_host_are_refused() {
    let flat = spec("v6e", "4x4");
    let shifted = [at(1, 0, 0), at(2, 0, 0), at(1, 1, 0), at(2, 1, 0)];
    let repeated = [at(0, 0, 0), at(0, 0, 0), at(0, 1, 0), at(1, 1, 0)];
    for chips in [&shifted[..], &repeated, &shifted[..3], &[]] {
        let error = flat.place_of(chips).expect_err("not a block");
        assert!(matches!(error, SubSliceError::NotAHostBlock { .. }), "{error}");
    }
}

#[test]
fn two_hosts_of_four_is_one_way_to_have_2x4() {
    let two = spec("v6e", "2x4").with_chips_per_host(4).expect("two hosts of four");
    assert_eq!((two.hosts(), two.host_grid().0), (2, [1, 2, 1]));
    assert_eq!(two.to_string(), "v6e 2x4 (4 chips a host)");
    let error = spec("v6e", "4x4").with_chips_per_host(8).expect_err("larger ones have four");
    assert_eq!(error.to_string(), "give a host of a v6e 4x4 slice 8 chips: it comes with 4 a host");
    assert!(spec("v4", "2x2x2").with_chips_per_host(1).is_err());
}

#[test]
fn a_providers_own_shape_is_believed_when_it_divides_into_hosts() {
    let own = shape("4x12x16");
    assert!(SliceSpec::new(Generation::V7x, own).is_err(), "in no table");
    let spec = SliceSpec::reported(Generation::V7x, own, None).expect("divides into hosts");
    assert_eq!((spec.chips(), spec.hosts()), (768, 192));
    assert!(SliceSpec::reported(Generation::V7x, shape("3x4x4"), None).is_err());
    assert!(SliceSpec::reported(Generation::V7x, shape("4x4"), None).is_err());
}

#[test]
fn links_wrap_where_the_generation_says() {
    let wraps = |generation: &str, topology: &str| spec(generation, topology).wraps();
    assert_eq!(wraps("v2", "16x16"), [true, true, false]);
    assert_eq!(wraps("v3", "16x16"), [false; 3]);
    assert_eq!(wraps("v3", "32x32"), [true, true, false]);
    assert_eq!(wraps("v4", "4x4x8"), [true; 3]);
    assert_eq!(wraps("v4", "2x4x4"), [false; 3]);
    assert_eq!(wraps("v6e", "8x16"), [false, true, false]);
    assert_eq!(wraps("v5e", "8x8"), [false; 3]);
}

#[test]
fn neighbours_of_a_corner() {
    let flat = spec("v6e", "4x4");
    assert_eq!(flat.neighbours(at(0, 0, 0)), [at(1, 0, 0), at(0, 1, 0)]);
    let ring = spec("v6e", "8x16");
    assert_eq!(ring.neighbours(at(0, 0, 0)), [at(1, 0, 0), at(0, 1, 0), at(0, 15, 0)]);
    let cube = spec("v4", "4x4x4");
    assert_eq!(cube.neighbours(at(0, 0, 0)).len(), 6);
    assert_eq!(spec("v6e", "1x1").neighbours(at(0, 0, 0)), []);
    assert_eq!(flat.neighbours(at(4, 0, 0)), []);
}

#[test]
fn links_go_both_ways() {
    for spec in every_spec().filter(|spec| spec.chips() <= 512) {
        for chip in spec.chip_grid().coords() {
            for neighbour in spec.neighbours(chip) {
                assert!(spec.neighbours(neighbour).contains(&chip), "{spec} {chip} {neighbour}");
            }
        }
    }
}

#[test]
fn memory_is_counted_over_all_chips() {
    assert_eq!(spec("v6e", "4x4").hbm_bytes(), 16 * 32_000_000_000);
    assert_eq!(spec("v7x", "2x2x1").hbm_bytes(), 4 * 192_000_000_000);
}
