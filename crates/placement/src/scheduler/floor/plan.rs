//! The blocks that slices of one kind can be cut into, worked out once for all of them.

use crate::topology::{ChipSet, Coord, Grid, SliceSpec, Tiling, Topology};

/// One shape of block made of whole hosts.
#[derive(Clone, Debug)]
pub(in crate::scheduler) struct Shape {
    pub(in crate::scheduler) topology: Topology,
    pub(in crate::scheduler) tiling: Tiling,
    pub(in crate::scheduler) chips: u32,
    /// Its extents in hosts.
    pub(in crate::scheduler) hosts: Grid,
    /// How such blocks lie beside each other.
    pub(in crate::scheduler) grid: Grid,
    /// Which block each place of the host grid lies in.
    pub(in crate::scheduler) block_of: Vec<u32>,
}

/// One size of part inside a host.
#[derive(Clone, Debug)]
pub(in crate::scheduler) struct HostPartShape {
    pub(in crate::scheduler) topology: Topology,
    /// The aligned parts of that size, in order.
    pub(in crate::scheduler) parts: Vec<ChipSet>,
}

/// The blocks of one kind of slice, smallest first: the host, what lies between, the slice itself.
#[derive(Clone, Debug)]
pub(in crate::scheduler) struct Plan {
    pub(in crate::scheduler) spec: SliceSpec,
    pub(in crate::scheduler) shapes: Vec<Shape>,
    pub(in crate::scheduler) host_parts: Vec<HostPartShape>,
}

impl Plan {
    pub(in crate::scheduler) fn new(spec: SliceSpec) -> Self {
        let mut topologies = spec.sub_shapes();
        topologies.push(spec.topology());
        let (inside, of_hosts): (Vec<_>, Vec<_>) =
            topologies.into_iter().partition(|topology| topology.chips() < spec.chips_per_host());
        let host_parts = inside.into_iter().map(|topology| HostPartShape::new(spec, topology)).collect();
        let shapes = of_hosts.into_iter().filter_map(|topology| Shape::new(spec, topology)).collect();
        Self { spec, shapes, host_parts }
    }

    pub(in crate::scheduler) fn shape_index(&self, topology: Topology) -> Option<usize> {
        self.shapes.iter().position(|shape| shape.topology == topology)
    }

    pub(in crate::scheduler) fn host_part_index(&self, topology: Topology) -> Option<usize> {
        self.host_parts.iter().position(|part| part.topology == topology)
    }

    /// The blocks of shape `other` that share a host with block `block` of shape `shape`.
    pub(in crate::scheduler) fn overlapping(
        &self,
        shape: usize,
        block: u32,
        other: usize,
    ) -> impl Iterator<Item = u32> {
        let (shape, other) = (&self.shapes[shape], &self.shapes[other]);
        let at = shape.grid.coord(block).unwrap_or_default().to_array();
        let range = |axis: usize| {
            let (extent, other_extent) = (shape.hosts.0[axis], other.hosts.0[axis]);
            let from = at[axis] * extent;
            (from / other_extent)..=((from + extent - 1) / other_extent)
        };
        let (xs, ys, zs) = (range(0), range(1), range(2));
        zs.flat_map(move |z| {
            let xs = xs.clone();
            ys.clone()
                .flat_map(move |y| xs.clone().filter_map(move |x| other.grid.index(Coord::new(x, y, z))))
        })
    }
}

impl Shape {
    /// `None` when the shape is not made of whole hosts.
    fn new(spec: SliceSpec, topology: Topology) -> Option<Self> {
        let tiling = spec.tiling(topology).ok()?;
        let hosts = topology.grid().divided_by(spec.host_block());
        let grid = tiling.grid();
        let block = |place: u32| {
            let at = spec.host_grid().coord(place)?;
            let [x, y, z] = hosts.0;
            grid.index(Coord::new(at.x / x, at.y / y, at.z / z))
        };
        let block_of = (0..spec.hosts()).map(block).collect::<Option<Vec<u32>>>()?;
        Some(Self { topology, tiling, chips: topology.chips(), hosts, grid, block_of })
    }
}

impl HostPartShape {
    fn new(spec: SliceSpec, topology: Topology) -> Self {
        let block = spec.host_block();
        let parts = block.divided_by(topology.grid()).len();
        let chips = |part: u32| {
            let part = crate::topology::Block::tile(block, topology.grid(), part)?;
            Some(part.coords().filter_map(|chip| block.index(chip)).map(|chip| chip as u8).collect())
        };
        Self { topology, parts: (0..parts).filter_map(chips).collect() }
    }
}
