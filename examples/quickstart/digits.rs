//! The data: 1,797 digits of 8x8 pixels in a Parquet file, and which rows are whose.
//!
//! Row `r` is held out if `r % 5 == 4`. The others, in order, go round the hosts: the `k`th to host `k % hosts`; so do
//! the held-out ones. The order in which a host's rows are used follows from the seed, the epoch and the host alone, and
//! is the same in `programs/digits.py`.

use std::fs::File;
use std::path::{Path, PathBuf};

use mobula::BoxError;
use ndarray::{Array1, Array2};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{DataType, FloatType, Int32Type};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

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

/// Reads one host's rows of a split.
///
/// Each row group is read as a whole (they are of 256 rows), and what is another's is left out.
pub fn read(path: &Path, split: Split, host: usize, hosts: usize) -> Result<Rows, BoxError> {
    let file = SerializedFileReader::new(File::open(path)?)?;
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    let (mut row, mut of_split) = (0, 0);
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group)?;
        let classes = column::<Int32Type>(&*group, "label")?;
        let digits = column::<FloatType>(&*group, "pixels.list.element")?;
        if digits.len() != classes.len() * PIXELS {
            return Err(
                format!("{}: {} pixels for {} labels", path.display(), digits.len(), classes.len()).into()
            );
        }
        for (digit, class) in digits.chunks_exact(PIXELS).zip(classes) {
            if split.has(row) {
                if of_split % hosts == host {
                    pixels.extend_from_slice(digit);
                    labels.push(class);
                }
                of_split += 1;
            }
            row += 1;
        }
    }
    Ok(Rows { pixels: Array2::from_shape_vec((labels.len(), PIXELS), pixels)?, labels: labels.into() })
}

/// Every value of a column of a row group; the file has no nulls.
fn column<T: DataType>(group: &dyn RowGroupReader, name: &str) -> Result<Vec<T::T>, BoxError> {
    let columns = group.metadata().columns();
    let index = columns.iter().position(|column| column.column_path().string() == name);
    let index = index.ok_or_else(|| format!("the file has no column {name}"))?;
    let mut reader = get_typed_column_reader::<T>(group.get_column_reader(index)?);
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    let rows = usize::try_from(group.metadata().num_rows())?;
    let (read, _, _) =
        reader.read_records(rows, Some(&mut definitions), Some(&mut repetitions), &mut values)?;
    if read != rows {
        return Err(format!("column {name}: {read} of {rows} rows could be read").into());
    }
    Ok(values)
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
