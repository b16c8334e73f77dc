//! Programs in StableHLO, and what goes in and comes out of them.
//!
//! A program is text (what `jax.jit(f).lower(..).as_text()` prints) or bytecode (what `jax.export`
//! serializes), with a [`Signature`]. For text the signature is read from `func.func public @main`; for
//! bytecode, which only the compiler reads, the caller gives it.

mod lexer;
mod parse;
mod signature;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::io::AsyncReadExt;

pub use parse::{Position, SignatureError};
pub use signature::{ArgumentSpec, OutputSpec, ShardingSpec, Signature};

/// The largest program, in bytes.
pub const PROGRAM_BYTES_MAX: usize = 1 << 30;

/// The first bytes of MLIR bytecode.
const BYTECODE_MAGIC: &[u8] = b"ML\xefR";

/// Why there is no program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The file could not be read.
    #[error("read the program {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The program is larger than allowed.
    #[error("take a program of {got} bytes: expected at most {limit}")]
    TooLarge {
        /// Its size, as far as it was read.
        got: usize,
        /// [`PROGRAM_BYTES_MAX`].
        limit: usize,
    },
    /// The program is empty.
    #[error("take an empty program")]
    Empty,
    /// Text was expected.
    #[error("read a program as text: it is not UTF-8 from byte {valid_up_to} on")]
    NotText {
        /// How far it is text.
        valid_up_to: usize,
    },
    /// Bytecode does not tell its signature.
    #[error("read the signature of a program in bytecode: give it with `Program::from_bytes`")]
    BytecodeNeedsSignature,
    /// The signature in the text is not understood.
    #[error(transparent)]
    Signature(#[from] SignatureError),
}

/// How the compiler is to partition a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Partitioner {
    /// By `sdy.sharding`, which JAX writes since 0.7.
    Shardy,
    /// By `mhlo.sharding`, which it wrote before.
    Gspmd,
}

/// The SHA-256 of a program and what it is compiled with; equal for equal programs in any process.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProgramDigest([u8; 32]);

impl ProgramDigest {
    /// The digest of this one and `more`.
    pub(crate) fn with(self, more: &[u8]) -> ProgramDigest {
        ProgramDigest(Sha256::new().chain_update(self.0).chain_update(more).finalize().into())
    }
}

impl fmt::Display for ProgramDigest {
    /// The first eight digits, enough to tell programs apart.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(4).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ProgramDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProgramDigest({self})")
    }
}

/// A StableHLO program. Cheap to clone.
#[derive(Clone)]
pub struct Program(Arc<Inner>);

struct Inner {
    name: String,
    code: Vec<u8>,
    signature: Signature,
    is_signature_read: bool,
    partitioner: Partitioner,
    digest: ProgramDigest,
}

impl Program {
    /// A program from text; the signature is read from it.
    ///
    /// Only the signature is looked at here: what else is wrong with the text, the compiler says.
    ///
    /// # Errors
    /// [`ProgramError::Empty`], [`ProgramError::TooLarge`], [`ProgramError::Signature`].
    pub fn from_text(text: impl Into<String>) -> Result<Program, ProgramError> {
        let text = text.into();
        check_size(text.len())?;
        let module = parse::module(&text)?;
        Ok(Program::new(module.name, text.into_bytes(), module.signature, true, module.partitioner))
    }

    /// A program from text or bytecode with a signature given by hand.
    ///
    /// That the signature is the program's is checked as far as the compiler tells: number, types and shapes
    /// of the outputs.
    ///
    /// # Errors
    /// [`ProgramError::Empty`], [`ProgramError::TooLarge`].
    pub fn from_bytes(code: impl Into<Vec<u8>>, signature: Signature) -> Result<Program, ProgramError> {
        let code = code.into();
        check_size(code.len())?;
        let shardy = code.windows(4).any(|word| word == b"sdy." || word == b"sdy\0");
        let partitioner = if shardy { Partitioner::Shardy } else { Partitioner::Gspmd };
        Ok(Program::new("main".to_owned(), code, signature, false, partitioner))
    }

    /// A program from a file of text.
    ///
    /// # Errors
    /// [`ProgramError::Read`], [`ProgramError::NotText`], [`ProgramError::BytecodeNeedsSignature`], and those
    /// of [`Program::from_text`].
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn from_file(path: impl AsRef<Path>) -> Result<Program, ProgramError> {
        let path = path.as_ref();
        let read = |source| ProgramError::Read { path: path.to_owned(), source };
        let file = tokio::fs::File::open(path).await.map_err(read)?;
        let mut code = Vec::new();
        // One byte more than allowed tells a file that is too large from one that is just not.
        file.take(PROGRAM_BYTES_MAX as u64 + 1).read_to_end(&mut code).await.map_err(read)?;
        check_size(code.len())?;
        if code.starts_with(BYTECODE_MAGIC) {
            return Err(ProgramError::BytecodeNeedsSignature);
        }
        let text = String::from_utf8(code)
            .map_err(|error| ProgramError::NotText { valid_up_to: error.utf8_error().valid_up_to() })?;
        Program::from_text(text)
    }

    /// The same program for another partitioner than the one its code hints at.
    #[must_use]
    pub fn with_partitioner(&self, partitioner: Partitioner) -> Program {
        let inner = &self.0;
        let (name, code, signature) = (inner.name.clone(), inner.code.clone(), inner.signature.clone());
        Program::new(name, code, signature, inner.is_signature_read, partitioner)
    }

    fn new(
        name: String,
        code: Vec<u8>,
        signature: Signature,
        is_signature_read: bool,
        partitioner: Partitioner,
    ) -> Program {
        let digest = ProgramDigest(Sha256::digest(&code).into());
        let digest = digest.with(format!("{partitioner:?}{signature:?}").as_bytes());
        Program(Arc::new(Inner { name, code, signature, is_signature_read, partitioner, digest }))
    }

    /// The module's name in the text, or `main`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What goes in and comes out.
    pub fn signature(&self) -> &Signature {
        &self.0.signature
    }

    /// Whether the signature was read from the program itself, rather than given by hand.
    pub(crate) fn is_signature_read(&self) -> bool {
        self.0.is_signature_read
    }

    /// How the compiler is to partition it.
    pub fn partitioner(&self) -> Partitioner {
        self.0.partitioner
    }

    /// The digest of code, signature and partitioner.
    pub fn digest(&self) -> ProgramDigest {
        self.0.digest
    }

    /// Text or bytecode.
    pub fn code(&self) -> &[u8] {
        &self.0.code
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({} {}: {})", self.0.name, self.0.digest, self.0.signature)
    }
}

fn check_size(got: usize) -> Result<(), ProgramError> {
    let limit = PROGRAM_BYTES_MAX;
    match got {
        0 => Err(ProgramError::Empty),
        _ if got > limit => Err(ProgramError::TooLarge { got, limit }),
        _ => Ok(()),
    }
}
