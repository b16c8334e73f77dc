//! Element types of arrays, and their Rust types.

use std::fmt;

use crate::pjrt::Plain;

/// The element type of an array on devices.
///
/// Types that do not fill whole bytes (`i4` and smaller) are not represented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum DType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    Bf16,
    F32,
    F64,
    /// Complex of two `f32`.
    C64,
    /// Complex of two `f64`.
    C128,
    F8E5M2,
    F8E4M3Fn,
    F8E4M3B11Fnuz,
    F8E5M2Fnuz,
    F8E4M3Fnuz,
    F8E4M3,
    F8E3M4,
    F8E8M0Fnu,
}

/// What is known about a type.
struct Row {
    dtype: DType,
    /// `PJRT_Buffer_Type`.
    raw: i32,
    /// `xla.PrimitiveType`.
    hlo: u64,
    size_bytes: usize,
    /// The name in StableHLO.
    stablehlo: &'static str,
    /// The name here.
    name: &'static str,
}

const fn row(
    dtype: DType,
    raw: i32,
    hlo: u64,
    size_bytes: usize,
    stablehlo: &'static str,
    name: &'static str,
) -> Row {
    Row { dtype, raw, hlo, size_bytes, stablehlo, name }
}

/// All types.
const TABLE: &[Row] = &[
    row(DType::Bool, 1, 1, 1, "i1", "bool"),
    row(DType::I8, 2, 2, 1, "i8", "i8"),
    row(DType::I16, 3, 3, 2, "i16", "i16"),
    row(DType::I32, 4, 4, 4, "i32", "i32"),
    row(DType::I64, 5, 5, 8, "i64", "i64"),
    row(DType::U8, 6, 6, 1, "ui8", "u8"),
    row(DType::U16, 7, 7, 2, "ui16", "u16"),
    row(DType::U32, 8, 8, 4, "ui32", "u32"),
    row(DType::U64, 9, 9, 8, "ui64", "u64"),
    row(DType::F16, 10, 10, 2, "f16", "f16"),
    row(DType::F32, 11, 11, 4, "f32", "f32"),
    row(DType::F64, 12, 12, 8, "f64", "f64"),
    row(DType::Bf16, 13, 16, 2, "bf16", "bf16"),
    row(DType::C64, 14, 15, 8, "complex<f32>", "c64"),
    row(DType::C128, 15, 18, 16, "complex<f64>", "c128"),
    row(DType::F8E5M2, 16, 19, 1, "f8E5M2", "f8e5m2"),
    row(DType::F8E4M3Fn, 17, 20, 1, "f8E4M3FN", "f8e4m3fn"),
    row(DType::F8E4M3B11Fnuz, 18, 23, 1, "f8E4M3B11FNUZ", "f8e4m3b11fnuz"),
    row(DType::F8E5M2Fnuz, 19, 25, 1, "f8E5M2FNUZ", "f8e5m2fnuz"),
    row(DType::F8E4M3Fnuz, 20, 24, 1, "f8E4M3FNUZ", "f8e4m3fnuz"),
    row(DType::F8E4M3, 26, 28, 1, "f8E4M3", "f8e4m3"),
    row(DType::F8E3M4, 27, 29, 1, "f8E3M4", "f8e3m4"),
    row(DType::F8E8M0Fnu, 28, 33, 1, "f8E8M0FNU", "f8e8m0fnu"),
];

impl DType {
    fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.dtype == self).expect("the table has every type")
    }

    /// The size of one element in bytes.
    pub fn size_bytes(self) -> usize {
        self.row().size_bytes
    }

    /// The name in StableHLO, such as `i1` for booleans.
    pub fn stablehlo_name(self) -> &'static str {
        self.row().stablehlo
    }

    /// The number of the type in the C API.
    pub(crate) fn raw(self) -> i32 {
        self.row().raw
    }

    /// The type with the number `raw` in the C API, where it is represented.
    pub(crate) fn from_raw(raw: i32) -> Option<DType> {
        TABLE.iter().find(|row| row.raw == raw).map(|row| row.dtype)
    }

    /// The type with the number `hlo` in XLA's own messages, where it is represented.
    pub(crate) fn from_hlo(hlo: u64) -> Option<DType> {
        TABLE.iter().find(|row| row.hlo == hlo).map(|row| row.dtype)
    }

    /// The type with this name in StableHLO, where it is represented.
    pub(crate) fn from_stablehlo(name: &str) -> Option<DType> {
        TABLE.iter().find(|row| row.stablehlo == name).map(|row| row.dtype)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().name)
    }
}

/// Element type and shape of a tensor, shown as `f32[8, 128]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// The element type.
    pub dtype: DType,
    /// The extent of each dim; empty for a scalar.
    pub shape: Vec<usize>,
}

impl TensorType {
    /// A tensor of `dtype` with the extents `shape`.
    pub fn new(dtype: DType, shape: impl Into<Vec<usize>>) -> TensorType {
        TensorType { dtype, shape: shape.into() }
    }

    /// The number of elements; `None` when the bytes of them all do not fit into memory's address range.
    pub fn element_count(&self) -> Option<usize> {
        let count = self.shape.iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent))?;
        let bytes = count.checked_mul(self.dtype.size_bytes())?;
        isize::try_from(bytes).ok().map(|_| count)
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.dtype, self.shape)
    }
}

mod sealed {
    use super::Plain;

    /// How elements lie in memory, and the way back from there.
    pub trait Sealed: Sized {
        /// The plain type with the same memory.
        type Raw: Plain;
        /// Any value.
        const ZERO: Self::Raw;
        /// Rust values from what a device wrote.
        fn from_raw(raw: Vec<Self::Raw>) -> Vec<Self>;
    }
}

/// A Rust type that is the element of arrays. Sealed: the types are those of [`DType`] that Rust (or `half`)
/// has.
pub trait Element: sealed::Sealed + Copy + Send + Sync + PartialEq + fmt::Debug + 'static {
    /// The element type on devices.
    const DTYPE: DType;
}

macro_rules! element {
    ($($type:ty: $dtype:ident = $zero:expr),* $(,)?) => { $(
        impl sealed::Sealed for $type {
            type Raw = $type;
            const ZERO: $type = $zero;
            fn from_raw(raw: Vec<$type>) -> Vec<$type> {
                raw
            }
        }
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
        }
    )* };
}

element! {
    i8: I8 = 0,
    i16: I16 = 0,
    i32: I32 = 0,
    i64: I64 = 0,
    u8: U8 = 0,
    u16: U16 = 0,
    u32: U32 = 0,
    u64: U64 = 0,
    half::f16: F16 = half::f16::ZERO,
    half::bf16: Bf16 = half::bf16::ZERO,
    f32: F32 = 0.0,
    f64: F64 = 0.0,
}

impl sealed::Sealed for bool {
    type Raw = u8;
    const ZERO: u8 = 0;
    /// Not every byte is a `bool`: whatever a device wrote, non-zero is true.
    fn from_raw(raw: Vec<u8>) -> Vec<bool> {
        raw.into_iter().map(|byte| byte != 0).collect()
    }
}

impl Element for bool {
    const DTYPE: DType = DType::Bool;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(DType::from_raw(row.raw), Some(row.dtype));
            assert_eq!(DType::from_hlo(row.hlo), Some(row.dtype));
            assert_eq!(DType::from_stablehlo(row.stablehlo), Some(row.dtype));
            assert!(TABLE[..index].iter().all(|other| other.name != row.name));
        }
    }

    #[test]
    fn rust_types_have_the_size_that_is_stated() {
        fn check<T: Element>() {
            assert_eq!(size_of::<T>(), T::DTYPE.size_bytes(), "{}", T::DTYPE);
            assert_eq!(size_of::<<T as sealed::Sealed>::Raw>(), T::DTYPE.size_bytes());
        }
        check::<bool>();
        check::<i8>();
        check::<i16>();
        check::<i32>();
        check::<i64>();
        check::<u8>();
        check::<u16>();
        check::<u32>();
        check::<u64>();
        check::<half::f16>();
        check::<half::bf16>();
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn element_counts_do_not_overflow() {
        assert_eq!(TensorType::new(DType::F32, [2, 3]).element_count(), Some(6));
        assert_eq!(TensorType::new(DType::F32, []).element_count(), Some(1));
        assert_eq!(TensorType::new(DType::F32, [3, 0]).element_count(), Some(0));
        assert_eq!(TensorType::new(DType::F32, [usize::MAX, 2]).element_count(), None);
        assert_eq!(TensorType::new(DType::F64, [usize::MAX / 8]).element_count(), None);
        assert_eq!(TensorType::new(DType::Bf16, [8, 128]).to_string(), "bf16[8, 128]");
    }
}
