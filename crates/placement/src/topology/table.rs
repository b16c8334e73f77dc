//! The table: what each generation is. All of it comes from public documentation; nothing else in the crate repeats it.

use super::generation::Generation;
use super::grid::Grid;
use super::shape::Topology;

/// What is known about one generation.
#[derive(Debug)]
pub struct Facts {
    /// The plain name.
    pub name: &'static str,
    /// Other names, in lower case and without a leading `tpu`.
    pub aliases: &'static [&'static str],
    /// What stands before the count in a pod type as the provider writes it.
    pub pod_prefix: &'static str,
    /// How many axes the mesh has.
    pub dims: u8,
    /// Tensor cores on a chip; a pod type counts these.
    pub cores_per_chip: u32,
    /// Memory of a chip, in bytes, as documented (decimal gigabytes, so a lower bound).
    pub hbm_bytes_per_chip: u64,
    /// The part of the grid that a host of a multi-host slice owns.
    pub host_block: Grid,
    /// Blocks that fill one host and are a whole slice by themselves.
    pub single_host_blocks: &'static [Grid],
    /// When links wrap around.
    pub wrap: WrapRule,
    /// Which shapes can be asked for.
    pub shapes: ShapeRule,
}

/// When the links of an axis close into a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrapRule {
    /// Every axis, in this one shape only.
    FullPod(Topology),
    /// Every axis, when every extent is a multiple of this.
    EveryMultipleOf(u16),
    /// An axis with exactly this extent.
    Extent(u16),
}

/// Which shapes can be asked for: a list, and for some generations a rule besides.
#[derive(Clone, Copy, Debug)]
pub struct ShapeRule {
    /// Shapes one by one, smallest first.
    pub listed: &'static [Topology],
    /// Every shape whose extents are multiples of 4 up to these.
    pub multiples_of_4_up_to: Option<[u16; 3]>,
}

impl ShapeRule {
    /// Whether the shape can be asked for.
    pub fn allows(&self, topology: Topology) -> bool {
        let by_rule = self.multiples_of_4_up_to.is_some_and(|max| {
            let fits = |(&extent, max): (&u16, u16)| extent % 4 == 0 && extent <= max;
            topology.dims() == 3 && topology.grid().0.iter().zip(max).all(fits)
        });
        by_rule || self.listed.contains(&topology)
    }

    /// Every shape that can be asked for.
    pub fn all(&self) -> Vec<Topology> {
        let mut shapes = self.listed.to_vec();
        if let Some([x_max, y_max, z_max]) = self.multiples_of_4_up_to {
            let up_to = |max: u16| (4..=max).step_by(4);
            for x in up_to(x_max) {
                for y in up_to(y_max) {
                    shapes.extend(up_to(z_max).map(|z| Topology::cube(x, y, z)));
                }
            }
        }
        shapes.sort_unstable_by_key(|shape| (shape.chips(), *shape));
        shapes
    }
}

const GB: u64 = 1_000_000_000;
const FLAT_BLOCK: Grid = Grid([2, 2, 1]);
const LISTED_ONLY: Option<[u16; 3]> = None;

const fn flat(x: u16, y: u16) -> Topology {
    Topology::flat(x, y)
}

const fn cube(x: u16, y: u16, z: u16) -> Topology {
    Topology::cube(x, y, z)
}

const SMALL_CUBES: &[Topology] = &[cube(2, 2, 1), cube(2, 2, 2), cube(2, 2, 4), cube(2, 4, 4)];
const LITE_SHAPES: &[Topology] = &[
    flat(1, 1),
    flat(2, 2),
    flat(2, 4),
    flat(2, 8),
    flat(4, 4),
    flat(4, 8),
    flat(8, 8),
    flat(8, 16),
    flat(16, 16),
];
const LITE_SINGLE_HOST: &[Grid] = &[Grid([1, 1, 1]), FLAT_BLOCK, Grid([2, 4, 1])];

const V2: Facts = Facts {
    name: "v2",
    aliases: &[],
    pod_prefix: "v2",
    dims: 2,
    cores_per_chip: 2,
    hbm_bytes_per_chip: 16 * GB,
    host_block: FLAT_BLOCK,
    single_host_blocks: &[FLAT_BLOCK],
    wrap: WrapRule::FullPod(flat(16, 16)),
    shapes: ShapeRule {
        listed: &[flat(2, 2), flat(4, 4), flat(4, 8), flat(8, 8), flat(8, 16), flat(16, 16)],
        multiples_of_4_up_to: LISTED_ONLY,
    },
};

const V3: Facts = Facts {
    name: "v3",
    aliases: &[],
    pod_prefix: "v3",
    dims: 2,
    cores_per_chip: 2,
    hbm_bytes_per_chip: 32 * GB,
    host_block: FLAT_BLOCK,
    single_host_blocks: &[FLAT_BLOCK],
    wrap: WrapRule::FullPod(flat(32, 32)),
    shapes: ShapeRule {
        listed: &[
            flat(2, 2),
            flat(4, 4),
            flat(4, 8),
            flat(8, 8),
            flat(8, 16),
            flat(16, 16),
            flat(16, 32),
            flat(32, 32),
        ],
        multiples_of_4_up_to: LISTED_ONLY,
    },
};

const V4: Facts = Facts {
    name: "v4",
    aliases: &["v4-podslice"],
    pod_prefix: "v4",
    dims: 3,
    cores_per_chip: 2,
    hbm_bytes_per_chip: 32 * GB,
    host_block: FLAT_BLOCK,
    single_host_blocks: &[FLAT_BLOCK],
    wrap: WrapRule::EveryMultipleOf(4),
    shapes: ShapeRule { listed: SMALL_CUBES, multiples_of_4_up_to: Some([12, 12, 16]) },
};

const V5E: Facts = Facts {
    name: "v5e",
    aliases: &["v5litepod", "v5lite", "v5 lite", "v5-lite", "v5-lite-podslice", "v5-lite-device"],
    pod_prefix: "v5litepod",
    dims: 2,
    cores_per_chip: 1,
    hbm_bytes_per_chip: 16 * GB,
    host_block: FLAT_BLOCK,
    single_host_blocks: LITE_SINGLE_HOST,
    wrap: WrapRule::Extent(16),
    shapes: ShapeRule { listed: LITE_SHAPES, multiples_of_4_up_to: LISTED_ONLY },
};

const V5P: Facts = Facts {
    name: "v5p",
    aliases: &["v5p-slice"],
    pod_prefix: "v5p",
    dims: 3,
    cores_per_chip: 2,
    hbm_bytes_per_chip: 95 * GB,
    host_block: FLAT_BLOCK,
    single_host_blocks: &[FLAT_BLOCK],
    wrap: WrapRule::EveryMultipleOf(4),
    shapes: ShapeRule { listed: SMALL_CUBES, multiples_of_4_up_to: Some([16, 16, 24]) },
};

const V6E: Facts = Facts {
    name: "v6e",
    aliases: &["trillium", "v6 lite", "v6-lite", "v6e-slice", "v6e-device"],
    pod_prefix: "v6e",
    dims: 2,
    cores_per_chip: 1,
    hbm_bytes_per_chip: 32 * GB,
    host_block: FLAT_BLOCK,
    single_host_blocks: LITE_SINGLE_HOST,
    wrap: WrapRule::Extent(16),
    shapes: ShapeRule { listed: LITE_SHAPES, multiples_of_4_up_to: LISTED_ONLY },
};

const V7X: Facts = Facts {
    name: "v7x",
    aliases: &["ironwood", "v7x-slice", "7x-slice"],
    pod_prefix: "v7x",
    dims: 3,
    cores_per_chip: 2,
    hbm_bytes_per_chip: 192 * GB,
    host_block: FLAT_BLOCK,
    single_host_blocks: &[FLAT_BLOCK],
    wrap: WrapRule::EveryMultipleOf(4),
    shapes: ShapeRule {
        listed: &[
            cube(2, 2, 1),
            cube(2, 2, 2),
            cube(2, 2, 4),
            cube(2, 4, 4),
            cube(4, 4, 4),
            cube(4, 4, 8),
            cube(4, 8, 8),
            cube(8, 8, 8),
            cube(8, 8, 16),
            cube(8, 16, 16),
        ],
        multiples_of_4_up_to: LISTED_ONLY,
    },
};

/// The row of a generation.
pub(super) const fn facts(generation: Generation) -> &'static Facts {
    match generation {
        Generation::V2 => &V2,
        Generation::V3 => &V3,
        Generation::V4 => &V4,
        Generation::V5e => &V5E,
        Generation::V5p => &V5P,
        Generation::V6e => &V6E,
        Generation::V7x => &V7X,
    }
}
