//! Expected values come from `tests/cases/topology.json` and from hand computation.

mod geometry;
mod parts;
mod spelling;

use serde::Deserialize;

use super::{Generation, SliceSpec, Topology};

/// The cases handed to the project, verbatim.
#[derive(Deserialize)]
pub(super) struct Cases {
    pub(super) shapes: Vec<Shape>,
    pub(super) pod_types: Vec<PodTypeCase>,
    pub(super) host_grids: Vec<HostGrid>,
    pub(super) invalid: Vec<Invalid>,
    pub(super) spellings: Vec<(String, String)>,
}

#[derive(Deserialize)]
pub(super) struct Shape {
    pub(super) generation: String,
    pub(super) topology: String,
    pub(super) chips: u32,
    pub(super) hosts: u32,
    pub(super) chips_per_host: u32,
    pub(super) pod_type: String,
}

#[derive(Deserialize)]
pub(super) struct PodTypeCase {
    pub(super) pod_type: String,
    pub(super) chips: u32,
}

#[derive(Deserialize)]
pub(super) struct HostGrid {
    pub(super) topology: String,
    pub(super) host_grid: Vec<u16>,
}

#[derive(Deserialize)]
pub(super) struct Invalid {
    pub(super) generation: String,
    pub(super) topology: String,
}

pub(super) fn cases() -> Cases {
    let text = include_str!("../../../../tests/cases/topology.json");
    serde_json::from_str(text).expect("the cases are well formed")
}

pub(super) fn spec(generation: &str, topology: &str) -> SliceSpec {
    SliceSpec::parse(generation, topology).expect("a slice that exists")
}

pub(super) fn shape(text: &str) -> Topology {
    text.parse().expect("a topology")
}

/// Every slice that can be asked for.
pub(super) fn every_spec() -> impl Iterator<Item = SliceSpec> {
    Generation::ALL.into_iter().flat_map(|generation| {
        let shapes = generation.facts().shapes.all();
        shapes.into_iter().map(move |shape| SliceSpec::new(generation, shape).expect("listed"))
    })
}
