//! XLA's own notation of shardings: a grid of tiles and the devices that hold them.
//!
//! The notation names devices, not axes: `{devices=[2,1,4]<=[8] last_tile_dim_replicate}` splits dim 0 in
//! two, and groups of four devices hold copies. It comes from older programs (`mhlo.sharding`) and from the
//! compiler, which answers in it when it is asked what it chose. [`Tiles::to_sharding`] finds the axes of a
//! mesh that mean the same.
//!
//! Source: `HloSharding::ToString` and `OpSharding` in XLA's `xla_data.proto`.

use std::fmt;
use std::sync::Arc;

use super::Sharding;
use crate::mesh::MeshShape;
use crate::wire;

/// The most devices that a grid may name.
const DEVICES_MAX: usize = 1 << 16;

/// Why a sharding in XLA's notation is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TilesError {
    /// A form that says nothing about slices (`manual`, `maximal`, `unknown`, tuples), or one that is not
    /// known here.
    #[error(
        "read the sharding `{text}`: only `replicated` and `devices=[..]` are understood; give the signature \
         by hand"
    )]
    Unsupported {
        /// The sharding.
        text: String,
    },
    /// The notation is broken.
    #[error("read the sharding `{text}`: {reason}")]
    Malformed {
        /// The sharding.
        text: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// The grid has another number of devices than the mesh.
    #[error(
        "find the axes of {mesh} that mean {tiles}: the mesh has {} devices, the sharding names {got}",
        mesh.device_count()
    )]
    DeviceCount {
        /// The grid.
        tiles: Tiles,
        /// The mesh.
        mesh: MeshShape,
        /// How many devices the grid names.
        got: usize,
    },
    /// No choice of axes means the same.
    #[error("find the axes of {mesh} that mean {tiles}: there are none")]
    NoAxes {
        /// The grid.
        tiles: Tiles,
        /// The mesh.
        mesh: MeshShape,
    },
}

/// A sharding in XLA's notation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tiles {
    /// The parts of each tensor dim, then groups of devices that hold copies. Empty: replicated.
    grid: Vec<usize>,
    /// How many of the last dims of the grid are groups of copies.
    copies: usize,
    /// The devices of the grid in row-major order.
    devices: Vec<usize>,
}

impl Tiles {
    /// Every device holds the whole tensor.
    fn replicated() -> Tiles {
        Tiles { grid: Vec::new(), copies: 0, devices: Vec::new() }
    }

    /// Reads the text of an `mhlo.sharding` attribute.
    ///
    /// # Errors
    /// [`TilesError::Unsupported`] or [`TilesError::Malformed`].
    pub fn from_text(text: &str) -> Result<Tiles, TilesError> {
        let unsupported = || TilesError::Unsupported { text: shorten(text) };
        let malformed = |reason| TilesError::Malformed { text: shorten(text), reason };
        let inner = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let inner = inner.ok_or_else(|| malformed("expected braces around it"))?.trim();
        if inner == "replicated" {
            return Ok(Tiles::replicated());
        }
        let rest = inner.strip_prefix("devices=").ok_or_else(unsupported)?;
        let (grid, rest) = bracketed(rest).ok_or_else(|| malformed("expected `[..]` behind `devices=`"))?;
        let (devices, rest) = if let Some(rest) = rest.strip_prefix("<=") {
            let (reshape, rest) = bracketed(rest).ok_or_else(|| malformed("expected `[..]` behind `<=`"))?;
            let (permutation, rest) = match rest.strip_prefix("T(") {
                Some(rest) => {
                    let (inside, rest) =
                        rest.split_once(')').ok_or_else(|| malformed("`T(` is not closed"))?;
                    (numbers(inside).ok_or_else(|| malformed("expected numbers inside `T(..)`"))?, rest)
                }
                None => ((0..reshape.len()).collect(), rest),
            };
            let devices =
                iota(&reshape, &permutation).ok_or_else(|| malformed("the order is no permutation"))?;
            (devices, rest)
        } else {
            let end = rest.find(' ').unwrap_or(rest.len());
            let listed = numbers(&rest[..end]).ok_or_else(|| malformed("expected a list of devices"))?;
            (listed, &rest[end..])
        };
        let copies = match rest.trim() {
            "" => 0,
            "last_tile_dim_replicate" | "last_tile_dims={replicated}" => 1,
            _ => return Err(unsupported()),
        };
        Tiles::new(grid, copies, devices).ok_or_else(|| malformed("the devices are not those of the grid"))
    }

    /// Reads a serialized `OpSharding`.
    ///
    /// # Errors
    /// [`TilesError::Unsupported`] or [`TilesError::Malformed`].
    pub(crate) fn from_proto(bytes: &[u8]) -> Result<Tiles, TilesError> {
        let text = || format!("a message of {} bytes", bytes.len());
        let malformed = |reason| TilesError::Malformed { text: text(), reason };
        let unsupported = || TilesError::Unsupported { text: text() };
        let (mut kind, mut replicate_last) = (0, false);
        let [mut grid, mut listed, mut last_kinds, mut reshape, mut permutation] =
            [const { Vec::<u64>::new() }; 5];
        for field in wire::Reader::new(bytes) {
            let field = field.map_err(|_| malformed("it is no message"))?;
            match field.number {
                1 => kind = field.integer().unwrap_or(u64::MAX),
                3 => field.append_integers(&mut grid),
                4 => field.append_integers(&mut listed),
                6 => replicate_last = field.integer() == Some(1),
                8 => field.append_integers(&mut last_kinds),
                9 => field.append_integers(&mut reshape),
                10 => field.append_integers(&mut permutation),
                5 | 14.. => return Err(unsupported()),
                _ => {}
            }
        }
        // OpSharding.Type: 0 replicated, 3 other.
        match kind {
            0 => return Ok(Tiles::replicated()),
            3 => {}
            _ => return Err(unsupported()),
        }
        if last_kinds.iter().any(|kind| *kind != 0) {
            return Err(unsupported());
        }
        let copies = if replicate_last { 1 } else { last_kinds.len() };
        let sizes = |list: Vec<u64>| {
            list.into_iter().map(|n| usize::try_from(n).ok()).collect::<Option<Vec<usize>>>()
        };
        let out_of_range = || malformed("a number is out of range");
        let grid = sizes(grid).ok_or_else(out_of_range)?;
        let devices = if listed.is_empty() {
            let reshape = sizes(reshape).ok_or_else(out_of_range)?;
            let permutation = sizes(permutation).ok_or_else(out_of_range)?;
            iota(&reshape, &permutation).ok_or_else(|| malformed("the order is no permutation"))?
        } else {
            sizes(listed).ok_or_else(out_of_range)?
        };
        Tiles::new(grid, copies, devices).ok_or_else(|| malformed("the devices are not those of the grid"))
    }

    /// Checks that `devices` are `0..n` in some order and fill the grid.
    fn new(grid: Vec<usize>, copies: usize, devices: Vec<usize>) -> Option<Tiles> {
        let count = grid.iter().try_fold(1_usize, |count, parts| count.checked_mul(*parts))?;
        if grid.is_empty() || copies > grid.len() || count != devices.len() || count > DEVICES_MAX {
            return None;
        }
        let mut seen = vec![false; count];
        for device in &devices {
            if std::mem::replace(seen.get_mut(*device)?, true) {
                return None;
            }
        }
        Some(Tiles { grid, copies, devices })
    }

    /// The axes of `mesh` that put the same parts of a tensor of `rank` dims on the same devices; device `n`
    /// of the grid is the one at position `n` of the mesh.
    ///
    /// # Errors
    /// [`TilesError::DeviceCount`] or [`TilesError::NoAxes`].
    pub fn to_sharding(&self, mesh: &MeshShape, rank: usize) -> Result<Sharding, TilesError> {
        let tile_dims = self.grid.len() - self.copies;
        if self.grid[..tile_dims].iter().all(|parts| *parts == 1) {
            return Ok(Sharding::replicated());
        }
        let no_axes = || TilesError::NoAxes { tiles: self.clone(), mesh: mesh.clone() };
        if self.devices.len() != mesh.device_count() {
            let got = self.devices.len();
            return Err(TilesError::DeviceCount { tiles: self.clone(), mesh: mesh.clone(), got });
        }
        if tile_dims != rank {
            return Err(no_axes());
        }
        let mut dims: Vec<Vec<Arc<str>>> = Vec::with_capacity(rank);
        for dim in 0..rank {
            let parts = self.parts_held(dim);
            dims.push(find_axes(mesh, self.grid[dim], &parts).ok_or_else(no_axes)?);
        }
        Ok(Sharding::over(dims))
    }

    /// For each device, which part of `dim` it holds.
    fn parts_held(&self, dim: usize) -> Vec<usize> {
        let inner: usize = self.grid[dim + 1..].iter().product();
        let mut held = vec![0; self.devices.len()];
        for (tile, device) in self.devices.iter().enumerate() {
            held[*device] = tile / inner % self.grid[dim];
        }
        held
    }
}

impl fmt::Display for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.grid.is_empty() {
            return f.write_str("{replicated}");
        }
        write!(f, "{{devices={:?}", self.grid)?;
        if self.devices.len() <= 64 {
            write!(f, "{:?}", self.devices)?;
        }
        f.write_str(if self.copies == 0 { "}" } else { " last_tile_dim_replicate}" })
    }
}

/// The axes, slowest first, along which a dim of `parts` parts is split so that each device holds the part in
/// `held`.
///
/// The choice is unique up to axes of extent 1, which are never chosen: the fastest axis is one along which
/// neighbours hold neighbouring parts, and so on outwards.
fn find_axes(mesh: &MeshShape, parts: usize, held: &[usize]) -> Option<Vec<Arc<str>>> {
    let (mut stride, mut found) = (1, Vec::new());
    while stride < parts {
        let next = mesh.axes().iter().enumerate().find(|(index, axis)| {
            let mut neighbour = vec![0; mesh.axes().len()];
            neighbour[*index] = 1;
            axis.extent > 1
                && !found.contains(&axis.name)
                && mesh.position(&neighbour).is_some_and(|position| held[position] == held[0] + stride)
        });
        let (_, axis) = next?;
        stride *= axis.extent;
        found.push(Arc::clone(&axis.name));
    }
    found.reverse();
    let sharding = Sharding::over([found.clone()]);
    let same = |position: usize| sharding.part_indices(mesh, 1, position)[0] == held[position];
    (stride == parts && (0..held.len()).all(same)).then_some(found)
}

/// The numbers `0..n`, laid out as `reshape`, transposed by `permutation`, flattened.
fn iota(reshape: &[usize], permutation: &[usize]) -> Option<Vec<usize>> {
    let count = reshape.iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent))?;
    let mut sorted = permutation.to_vec();
    sorted.sort_unstable();
    if count > DEVICES_MAX || !sorted.iter().copied().eq(0..reshape.len()) {
        return None;
    }
    let strides: Vec<usize> = (0..reshape.len()).map(|dim| reshape[dim + 1..].iter().product()).collect();
    let number_at = |index: usize| {
        let mut rest = index;
        permutation.iter().rev().fold(0, |number, dim| {
            let coordinate = rest % reshape[*dim];
            rest /= reshape[*dim];
            number + coordinate * strides[*dim]
        })
    };
    Some((0..count).map(number_at).collect())
}

/// The numbers of a `[..]` at the start of `text`, and what follows.
fn bracketed(text: &str) -> Option<(Vec<usize>, &str)> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    Some((numbers(inside)?, rest))
}

/// Numbers separated by commas.
fn numbers(text: &str) -> Option<Vec<usize>> {
    text.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// The start of a long text, for an error.
fn shorten(text: &str) -> String {
    if text.chars().count() <= 120 {
        text.to_owned()
    } else {
        text.chars().take(120).collect::<String>() + "…"
    }
}

#[cfg(test)]
mod tests;
