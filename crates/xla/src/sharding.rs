//! Which part of an array lies on which device of a mesh.
//!
//! A [`Sharding`] lists, for each dim of a tensor, the mesh axes that split it (slowest first). A dim without
//! axes is not split; an axis that splits no dim holds copies. With the mesh `(data=2, model=2)`:
//!
//! | sharding | shown as | shard of `[8, 6]` on device `(1, 0)` |
//! |---|---|---|
//! | `Sharding::replicated()` | `{}` | `[0..8, 0..6]` |
//! | `Sharding::over([["data"]])` | `{data}` | `[4..8, 0..6]` |
//! | `Sharding::over([vec![], vec!["model"]])` | `{-, model}` | `[0..8, 0..3]` |
//! | `Sharding::over([["data", "model"]])` | `{data+model}` | `[4..6, 0..6]` |

mod tiles;

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub use tiles::{Tiles, TilesError};

use crate::mesh::MeshShape;

/// Why a sharding does not fit a tensor or a mesh.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardingError {
    /// The mesh has no such axis.
    #[error("shard over \"{axis}\": the mesh is {mesh}")]
    UnknownAxis {
        /// The axis that was named.
        axis: String,
        /// The axes that there are.
        mesh: MeshShape,
    },
    /// One axis splits two dims, or one dim twice.
    #[error("shard over \"{axis}\" twice in {sharding}")]
    AxisTwice {
        /// The axis.
        axis: String,
        /// The whole sharding.
        sharding: Sharding,
    },
    /// The sharding speaks of more dims than the tensor has.
    #[error(
        "shard a tensor of shape {shape:?} as {sharding}: expected at most {} dims, got {got}",
        shape.len()
    )]
    Rank {
        /// The tensor's shape.
        shape: Vec<usize>,
        /// The sharding.
        sharding: Sharding,
        /// How many dims the sharding speaks of.
        got: usize,
    },
    /// A dim cannot be split evenly.
    #[error(
        "shard dim {dim} of shape {shape:?} as {sharding} over {mesh}: {extent} is not a multiple of {parts}"
    )]
    NotDivisible {
        /// The dim.
        dim: usize,
        /// Its extent.
        extent: usize,
        /// In how many parts it is to be split.
        parts: usize,
        /// The tensor's shape.
        shape: Vec<usize>,
        /// The sharding.
        sharding: Sharding,
        /// The mesh.
        mesh: MeshShape,
    },
}

/// For each dim of a tensor, the mesh axes that split it. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Sharding {
    /// Never ends with an empty list, so that equal shardings are equal values.
    dims: Arc<[Vec<Arc<str>>]>,
}

impl Sharding {
    /// Every device holds the whole tensor.
    pub fn replicated() -> Sharding {
        Sharding::default()
    }

    /// Each dim is split over the axes in its list, slowest first; dims without a list are not split.
    pub fn over<D, N>(dims: impl IntoIterator<Item = D>) -> Sharding
    where
        D: IntoIterator<Item = N>,
        N: Into<Arc<str>>,
    {
        let mut dims: Vec<Vec<Arc<str>>> =
            dims.into_iter().map(|axes| axes.into_iter().map(Into::into).collect()).collect();
        while dims.last().is_some_and(Vec::is_empty) {
            dims.pop();
        }
        Sharding { dims: dims.into() }
    }

    /// The axes that split dim `dim`, slowest first.
    pub fn axes_of(&self, dim: usize) -> &[Arc<str>] {
        self.dims.get(dim).map_or(&[], Vec::as_slice)
    }

    /// Whether no dim is split (by any axis, also one of extent 1).
    pub fn is_replicated(&self) -> bool {
        self.dims.is_empty()
    }

    /// How many parts each dim of `shape` is split into.
    ///
    /// # Errors
    /// See [`ShardingError`].
    pub fn parts(&self, mesh: &MeshShape, shape: &[usize]) -> Result<Vec<usize>, ShardingError> {
        if self.dims.len() > shape.len() {
            return Err(ShardingError::Rank {
                shape: shape.to_vec(),
                sharding: self.clone(),
                got: self.dims.len(),
            });
        }
        let mut seen: Vec<&str> = Vec::new();
        let mut parts = vec![1; shape.len()];
        for (dim, axes) in self.dims.iter().enumerate() {
            for axis in axes {
                let extent = mesh.extent(axis).ok_or_else(|| ShardingError::UnknownAxis {
                    axis: axis.to_string(),
                    mesh: mesh.clone(),
                })?;
                if seen.contains(&&**axis) {
                    return Err(ShardingError::AxisTwice { axis: axis.to_string(), sharding: self.clone() });
                }
                seen.push(axis);
                parts[dim] *= extent;
            }
        }
        for (dim, (extent, parts)) in shape.iter().zip(&parts).enumerate() {
            if extent % parts != 0 {
                return Err(ShardingError::NotDivisible {
                    dim,
                    extent: *extent,
                    parts: *parts,
                    shape: shape.to_vec(),
                    sharding: self.clone(),
                    mesh: mesh.clone(),
                });
            }
        }
        Ok(parts)
    }

    /// The shape of every shard of a tensor of `shape`.
    ///
    /// # Errors
    /// See [`ShardingError`].
    pub fn shard_shape(&self, mesh: &MeshShape, shape: &[usize]) -> Result<Vec<usize>, ShardingError> {
        let parts = self.parts(mesh, shape)?;
        Ok(shape.iter().zip(parts).map(|(extent, parts)| extent / parts).collect())
    }

    /// For each device of the mesh in row-major order, the part of a tensor of `shape` that it holds.
    ///
    /// # Errors
    /// See [`ShardingError`].
    pub fn slices(&self, mesh: &MeshShape, shape: &[usize]) -> Result<Vec<Slice>, ShardingError> {
        let shard = self.shard_shape(mesh, shape)?;
        let slice_at = |position: usize| {
            let indices = self.part_indices(mesh, shape.len(), position);
            indices.into_iter().zip(&shard).map(|(index, size)| index * size..(index + 1) * size).collect()
        };
        Ok((0..mesh.device_count()).map(slice_at).collect())
    }

    /// For each dim, which of its parts the device at `position` holds. The axes are known to be of the mesh.
    fn part_indices(&self, mesh: &MeshShape, rank: usize, position: usize) -> Vec<usize> {
        let coordinates = mesh.coordinates(position);
        let index_of = |dim: usize| {
            self.axes_of(dim).iter().fold(0, |index, name| {
                let axes = mesh.axes().iter().zip(&coordinates);
                let mut found = axes.filter(|(axis, _)| axis.name == *name);
                found.next().map_or(index, |(axis, coordinate)| index * axis.extent + coordinate)
            })
        };
        (0..rank).map(index_of).collect()
    }

    /// Whether both put the same parts of a tensor of `shape` on the devices of their meshes, position by
    /// position.
    ///
    /// # Errors
    /// See [`ShardingError`]; of either of the two.
    pub fn is_equivalent(
        &self,
        mesh: &MeshShape,
        other: &Sharding,
        other_mesh: &MeshShape,
        shape: &[usize],
    ) -> Result<bool, ShardingError> {
        if self == other && mesh == other_mesh {
            return self.parts(mesh, shape).map(|_| true);
        }
        Ok(self.slices(mesh, shape)? == other.slices(other_mesh, shape)?)
    }
}

impl fmt::Display for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (index, axes) in self.dims.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            f.write_str(&if axes.is_empty() { "-".to_owned() } else { axes.join("+") })?;
        }
        f.write_str("}")
    }
}

/// A part of a tensor: for each dim, the indices from start to end.
pub type Slice = Vec<Range<usize>>;

/// The smallest rectangle that holds all `slices`, when they fill it; `None` when there are gaps.
///
/// Slices of one sharding are either equal or disjoint, so the filled elements can be counted.
pub(crate) fn bounding_block(slices: &[Slice]) -> Option<Slice> {
    let first = slices.first()?;
    let block: Slice = (0..first.len())
        .map(|dim| {
            let starts = slices.iter().map(|slice| slice[dim].start).min();
            let ends = slices.iter().map(|slice| slice[dim].end).max();
            starts.unwrap_or(0)..ends.unwrap_or(0)
        })
        .collect();
    let mut distinct: Vec<&Slice> = Vec::new();
    for slice in slices {
        if !distinct.contains(&slice) {
            distinct.push(slice);
        }
    }
    let volume = |slice: &Slice| slice.iter().map(ExactSizeIterator::len).product::<usize>();
    (distinct.into_iter().map(volume).sum::<usize>() == volume(&block)).then_some(block)
}
