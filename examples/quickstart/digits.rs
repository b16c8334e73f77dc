//! The data: 1,797 digits of 8x8 pixels in a Parquet file, and which rows are whose.
//!
//! Row `r` is held out if `r % 5 == 4`. The others, in order, go round the hosts: the `k`th to host `k % hosts`; so do
//! the held-out ones. The order in which a host's rows are used follows from the seed, the epoch and the host alone, and
//! is the same in `programs/digits.py`.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int32Type};
use mobula::BoxError;
use ndarray::{Array1, Array2};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReaderBuilder, RowSelection, RowSelector};

pub const PIXELS: usize = 64;

/// Rows of one kind: `[rows, 64]` pixels and `[rows]` labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    pub pixels: Array2<f32>,
    pub labels: Array1<i32>,
}

impl Rows {
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The rows of these numbers, in this order.
    pub fn choose(&self, numbers: &[usize]) -> Self {
        let axis = ndarray::Axis(0);
        Self { pixels: self.pixels.select(axis, numbers), labels: self.labels.select(axis, numbers) }
    }

    /// With rows of zeros behind, up to `len`.
    pub fn padded(&self, len: usize) -> Self {
        let rows = self.len();
        let pixels = |at: (usize, usize)| if at.0 < rows { self.pixels[at] } else { 0.0 };
        let label = |row: usize| if row < rows { self.labels[row] } else { 0 };
        Self {
            pixels: Array2::from_shape_fn((len, PIXELS), pixels),
            labels: Array1::from_shape_fn(len, label),
        }
    }
}

/// Where the data of the examples lies.
pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/digits.parquet")
}

/// Whether a row is for training or held out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    Train,
    HeldOut,
}

impl Split {
    fn has(self, row: usize) -> bool {
        (row % 5 == 4) == (self == Self::HeldOut)
    }
}

/// Reads one host's rows of a split, and no others.
pub fn read(path: &Path, split: Split, host: usize, hosts: usize) -> Result<Rows, BoxError> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let rows = usize::try_from(reader.metadata().file_metadata().num_rows())?;
    let own = (0..rows).filter(|row| split.has(*row)).skip(host).step_by(hosts);
    let batches = reader.with_row_selection(selection(own, rows)).with_batch_size(rows.max(1)).build()?;
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for batch in batches {
        let batch = batch?;
        let column =
            |name: &str| batch.column_by_name(name).ok_or(format!("{}: no column {name}", path.display()));
        let digits =
            column("pixels")?.as_fixed_size_list_opt().filter(|list| list.value_length() as usize == PIXELS);
        let digits = digits.and_then(|list| list.values().as_primitive_opt::<Float32Type>());
        pixels.extend_from_slice(digits.ok_or("column pixels: lists of 64 f32 are expected")?.values());
        let classes =
            column("label")?.as_primitive_opt::<Int32Type>().ok_or("column label: i32 is expected")?;
        labels.extend_from_slice(classes.values());
    }
    Ok(Rows { pixels: Array2::from_shape_vec((labels.len(), PIXELS), pixels)?, labels: labels.into() })
}

/// The selection of single rows, in ascending order.
fn selection(own: impl Iterator<Item = usize>, rows: usize) -> RowSelection {
    let (mut selectors, mut next) = (Vec::new(), 0);
    for row in own {
        if row > next {
            selectors.push(RowSelector::skip(row - next));
        }
        selectors.push(RowSelector::select(1));
        next = row + 1;
    }
    if rows > next {
        selectors.push(RowSelector::skip(rows - next));
    }
    selectors.into()
}

/// The order in which a host uses its rows in an epoch: Fisher-Yates from the end, over [`SplitMix64`].
pub fn shuffled(rows: usize, seed: u32, epoch: u32, host: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    let mut random = SplitMix64(u64::from(seed) << 32 ^ u64::from(epoch) << 8 ^ u64::from(host));
    for i in (1..rows).rev() {
        // The bias of the remainder is below 2^-50 for so few rows.
        order.swap(i, (random.next() % (i as u64 + 1)) as usize);
    }
    order
}

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
