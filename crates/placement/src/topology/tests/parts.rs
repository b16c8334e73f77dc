//! Sub-slices, bundles and pictures.

use std::collections::BTreeSet;

use super::super::{BundleError, ChipSet, Coord, SubSliceError};
use super::{every_spec, shape, spec};

fn workers(generation: &str, slice: &str, part: &str, index: u32) -> Vec<u32> {
    let tiling = spec(generation, slice).tiling(shape(part)).expect("fits");
    tiling.part(index).expect("exists").hosts().iter().map(|host| host.worker).collect()
}

#[test]
fn peer_a33_membership_follows_geometry_not_the_old_table() {
    // v6e 4x4: 2x4 is two chips in x and four in y, so a column of hosts. The peer's old order gave {0,1} and {2,3}.
    assert_eq!(workers("v6e", "4x4", "2x4", 0), [0, 2]);
    assert_eq!(workers("v6e", "4x4", "2x4", 1), [1, 3]);
    let columns = spec("v6e", "4x4").tiling(shape("2x4")).expect("fits");
    let squares = spec("v6e", "4x4").tiling(shape("2x2")).expect("fits");
    let labels = |worker| (squares.parts_of_worker(worker)[0], columns.parts_of_worker(worker)[0]);
    assert_eq!([0, 1, 2, 3].map(labels), [(0, 0), (1, 1), (2, 0), (3, 1)]);
}

#[test]
fn peer_a34_parts_of_a_cube() {
    let cube = spec("v4", "4x4x4");
    let labels = |worker| {
        let of = |part: &str| cube.tiling(shape(part)).expect("fits").parts_of_worker(worker)[0];
        (of("2x2x1"), of("2x2x2"))
    };
    assert_eq!((labels(0), labels(8)), ((0, 0), (8, 4)));
}

#[test]
fn shapes_of_parts() {
    let shapes = |generation: &str, topology: &str| -> Vec<String> {
        spec(generation, topology).sub_shapes().iter().map(ToString::to_string).collect()
    };
    assert_eq!(shapes("v6e", "4x4"), ["1x1", "1x2", "2x2", "2x4"]);
    assert_eq!(shapes("v6e", "2x4"), ["1x1", "1x2", "2x2"]);
    assert_eq!(shapes("v4", "2x2x2"), ["1x1x1", "1x2x1", "2x2x1"]);
    assert_eq!(shapes("v6e", "1x1"), [""; 0]);
    let error = spec("v6e", "4x4").tiling(shape("4x2")).expect_err("not a shape of the generation");
    assert!(matches!(error, SubSliceError::DoesNotFit { .. }));
    assert!(error.to_string().ends_with("the parts that fit are 1x1, 1x2, 2x2, 2x4"), "{error}");
    assert!(spec("v6e", "4x4").tiling(shape("2x8")).is_err());
}

#[test]
fn t4_parts_cover_the_slice_once_and_are_connected() {
    for spec in every_spec().filter(|spec| spec.chips() <= 256) {
        for shape in spec.sub_shapes() {
            let tiling = spec.tiling(shape).expect("listed");
            let mut seen = BTreeSet::new();
            for index in 0..tiling.len() {
                let part = tiling.part(index).expect("in range");
                let chips: BTreeSet<Coord> = part.chips().coords().collect();
                assert_eq!(chips.len(), shape.chips() as usize);
                let by_host: u32 = part.hosts().iter().map(|host| host.chips.len()).sum();
                assert_eq!(by_host, shape.chips(), "{spec} {shape}");
                let mut reached = BTreeSet::from([part.chips().origin]);
                let mut open = vec![part.chips().origin];
                while let Some(chip) = open.pop() {
                    let inside = spec.neighbours(chip).into_iter().filter(|next| chips.contains(next));
                    open.extend(inside.filter(|&next| reached.insert(next)));
                }
                assert_eq!(reached, chips, "{spec} {shape} part {index} is connected");
                assert!(chips.into_iter().all(|chip| seen.insert(chip)), "{spec} {shape} overlap");
            }
            assert_eq!(seen.len(), spec.chips() as usize, "{spec} {shape}");
            assert_eq!(tiling.part(tiling.len()), None);
        }
    }
}

#[test]
fn a_part_of_a_host_is_named_by_its_chips() {
    let tiling = spec("v6e", "2x4").tiling(shape("2x2")).expect("half of a host of eight");
    let halves: Vec<_> = (0..2).map(|index| tiling.part(index).expect("a half").hosts()[0].chips).collect();
    assert_eq!(halves, [ChipSet::first(4), ChipSet::first(8).minus(ChipSet::first(4))]);
    let pair = spec("v6e", "4x4").tiling(shape("1x2")).expect("a pair").part(1).expect("exists");
    assert_eq!((pair.hosts()[0].worker, pair.hosts()[0].chips.to_string()), (0, "1,3".to_owned()));
    assert_eq!((pair.host_grid().0, pair.chips_per_host().0), ([1, 1, 1], [1, 2, 1]));
}

#[test]
fn process_grids_of_a_part() {
    let part = spec("v4", "4x4x4").tiling(shape("2x2x2")).expect("fits").part(4).expect("exists");
    assert_eq!((part.host_grid().0, part.chips_per_host().0), ([1, 1, 2], [2, 2, 1]));
    assert_eq!(part.hosts().iter().map(|host| host.worker).collect::<Vec<_>>(), [8, 12]);
}

#[test]
fn bundles_follow_hosts_and_chips() {
    let flat = spec("v6e", "4x4");
    let by_host = flat.bundles(2, None).expect("one a host");
    assert_eq!((by_host.total(), by_host.per_slice(), by_host.chips_per_bundle()), (8, 4, 4));
    assert_eq!(by_host.place(5), Some((1, 1, ChipSet::first(4))));
    let by_chip = flat.bundles(1, Some(1)).expect("one a chip");
    assert_eq!((by_chip.total(), by_chip.per_host()), (16, 4));
    assert_eq!(by_chip.place(6), Some((0, 1, ChipSet::EMPTY.with(2))));
    assert_eq!(by_chip.place(16), None);
}

#[test]
fn peer_t6_and_t7_workers_fill_slices_or_are_refused() {
    let small = spec("v4", "2x2x2");
    assert_eq!(small.slices_for(16, Some(1)), Ok(2));
    assert_eq!(small.slices_for(4, None), Ok(2));
    let refused = small.slices_for(3, None).expect_err("a slice and a half");
    assert!(refused.to_string().contains("must be a multiple of 2"), "{refused}");
    assert!(spec("v4", "2x2x1").slices_for(6, Some(1)).is_err());
}

#[test]
fn ray_fault_14_invalid_inputs_are_errors_and_never_one() {
    let flat = spec("v6e", "4x4");
    assert!(matches!(flat.slices_for(0, None), Err(BundleError::NotAMultiple { .. })));
    assert!(matches!(flat.bundles(0, None), Err(BundleError::Nothing { slices: 0 })));
    assert!(matches!(flat.bundles(1, Some(8)), Err(BundleError::Uneven { got: 8, .. })));
}

#[test]
fn peer_a20_and_a21_only_1_2_4_or_8_chips_go_to_a_process() {
    let eight = spec("v6e", "2x4");
    for chips in [1, 2, 4, 8] {
        assert!(eight.bundles(1, Some(chips)).is_ok());
    }
    let error = eight.bundles(1, Some(3)).expect_err("three");
    assert_eq!(error.to_string(), "give a bundle 3 chips: a process takes one of 1, 2, 4, 8");
    assert!(eight.bundles(1, Some(0)).is_err());
}

#[test]
fn a_slice_of_sixteen_is_drawn_chip_by_chip() {
    let expected = "\
v6e 4x4: 16 chips on 4 hosts of 4
+- worker 0 ---+- worker 1 ---+
| (0,0)  (1,0) | (2,0)  (3,0) |
| (0,1)  (1,1) | (2,1)  (3,1) |
+- worker 2 ---+- worker 3 ---+
| (0,2)  (1,2) | (2,2)  (3,2) |
| (0,3)  (1,3) | (2,3)  (3,3) |
+--------------+--------------+
";
    assert_eq!(spec("v6e", "4x4").picture().to_string(), expected);
}

#[test]
fn every_picture_fits_a_terminal() {
    for spec in every_spec() {
        let picture = spec.picture().with_labels((0..spec.hosts()).map(|worker| format!("host-{worker}")));
        let text = picture.to_string();
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert!(text.lines().count() <= 80, "{spec} takes {} lines", text.lines().count());
    }
}

#[test]
fn a_large_slice_is_abridged_and_says_so() {
    let text = spec("v5p", "16x16x24").picture().to_string();
    assert!(text.contains("... 20 more layers"), "{text}");
    assert!(text.contains("1535"), "the last worker is drawn");
    let cube = spec("v4", "2x2x2").picture().to_string();
    assert!(cube.contains("z = 1\n+- worker 1 -------+"), "{cube}");
}
