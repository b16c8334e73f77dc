//! Reads the signature out of StableHLO text.
//!
//! What is read: the module's name and `mhlo.num_partitions`, `sdy.mesh` declarations, and of `func.func
//! public @main` the tensor types with `sdy.sharding`, `mhlo.sharding`, `tf.aliasing_output` and
//! `jax.buffer_donor`. All else is skipped, token by token, in one pass. The form is the one that JAX prints.

mod types;

use super::Partitioner;
use super::lexer::{Lexer, Token};
use super::signature::{ArgumentSpec, OutputSpec, ShardingSpec, Signature};
use crate::mesh::{MeshError, MeshShape};
use crate::sharding::TilesError;

/// The most arguments, and the most outputs, of a program.
const PORTS_MAX: usize = 1 << 16;
/// The deepest nesting of brackets that is followed inside an attribute.
const DEPTH_MAX: usize = 64;
/// The most meshes that a module may declare.
const MESHES_MAX: usize = 64;

/// A place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

/// Why the signature of a program is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The text is not what JAX prints.
    #[error("read the signature of a program at {}:{}: expected {expected}, got {got}", at.line, at.column)]
    Unexpected {
        /// What should be there.
        expected: &'static str,
        /// What is there.
        got: String,
        /// Where.
        at: Position,
    },
    /// There is no entry function.
    #[error("read the signature of a program: there is no `func.func public @main` in it")]
    NoMain,
    /// There are two entry functions.
    #[error("read the signature of a program at {}:{}: there is a second `@main`", at.line, at.column)]
    MainTwice {
        /// Where the second one is.
        at: Position,
    },
    /// Something that StableHLO has and this crate does not.
    #[error("read the signature of a program at {}:{}: {what} is not supported", at.line, at.column)]
    Unsupported {
        /// What it is.
        what: String,
        /// Where.
        at: Position,
    },
    /// More of something than allowed.
    #[error("read the signature of a program at {}:{}: more than {limit} {what}", at.line, at.column)]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
        /// Where it was passed.
        at: Position,
    },
    /// A mesh is declared that cannot be.
    #[error("read the signature of a program at {}:{}: {source}", at.line, at.column)]
    Mesh {
        /// Why.
        source: MeshError,
        /// Where.
        at: Position,
    },
    /// A sharding in XLA's notation is not understood.
    #[error("read the signature of a program at {}:{}: {source}", at.line, at.column)]
    Tiles {
        /// Why.
        source: TilesError,
        /// Where.
        at: Position,
    },
    /// A sharding names a mesh that the module does not declare, or two shardings name two meshes.
    #[error(
        "read the signature of a program: its shardings name the meshes {named:?}, expected one of \
         {declared:?}"
    )]
    Meshes {
        /// The meshes that shardings of the signature name.
        named: Vec<String>,
        /// The meshes that the module declares.
        declared: Vec<String>,
    },
}

/// What was read of a module.
pub(super) struct Module {
    /// The module's name.
    pub(super) name: String,
    /// The signature of `@main`.
    pub(super) signature: Signature,
    /// Shardy when the text mentions it.
    pub(super) partitioner: Partitioner,
}

/// Reads the signature of the module in `text`.
pub(super) fn module(text: &str) -> Result<Module, SignatureError> {
    let mut parser = Parser::new(text);
    let mut main = None;
    let mut name = None;
    let mut meshes: Vec<(String, MeshShape)> = Vec::new();
    let mut shardy = false;
    loop {
        match parser.lexer.next() {
            Token::End => break,
            Token::Word("module") => {
                if let (Token::Symbol(symbol), None) = (parser.lexer.peek(), &name) {
                    name = Some(symbol.to_owned());
                }
            }
            Token::Word("mhlo.num_partitions") => parser.partitions()?,
            Token::Word("mhlo.num_replicas") => parser.replicas()?,
            Token::Word("sdy.mesh") => {
                shardy = true;
                if meshes.len() == MESHES_MAX {
                    return Err(parser.too_many("meshes", MESHES_MAX));
                }
                meshes.push(parser.mesh()?);
            }
            Token::Word(word) if word.starts_with("sdy.") => shardy = true,
            Token::Sigil(word) if word.starts_with("#sdy.") => shardy = true,
            Token::Word("func.func") => {
                let signature = parser.function()?;
                if signature.is_some() && main.is_some() {
                    return Err(SignatureError::MainTwice { at: parser.here() });
                }
                main = main.or(signature);
            }
            _ => {}
        }
    }
    let mut signature = main.ok_or(SignatureError::NoMain)?;
    signature.mesh = choose_mesh(&parser.named_meshes, &meshes)?;
    signature.partitions = parser.partitions;
    let partitioner = if shardy { Partitioner::Shardy } else { Partitioner::Gspmd };
    let name = name.unwrap_or_else(|| "main".to_owned());
    Ok(Module { name, signature, partitioner })
}

/// The one mesh of the signature: the one that shardings name, else the only one with axes.
fn choose_mesh(
    named: &[String],
    declared: &[(String, MeshShape)],
) -> Result<Option<MeshShape>, SignatureError> {
    let find = |name: &String| declared.iter().find(|(declared, _)| declared == name);
    let with_axes: Vec<&(String, MeshShape)> =
        declared.iter().filter(|(_, mesh)| !mesh.axes().is_empty()).collect();
    match (named, with_axes.as_slice()) {
        ([], [(_, only)]) => Ok(Some(only.clone())),
        ([], _) => Ok(None),
        ([name], _) if find(name).is_some() => Ok(find(name).map(|(_, mesh)| mesh.clone())),
        _ => Err(SignatureError::Meshes {
            named: named.to_vec(),
            declared: declared.iter().map(|(name, _)| name.clone()).collect(),
        }),
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    partitions: Option<usize>,
    /// The meshes that shardings of the signature name, without doubles.
    named_meshes: Vec<String>,
}

/// The attributes of an argument or output that matter.
struct Attributes {
    sharding: ShardingSpec,
    donated: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parser<'a> {
        Parser { lexer: Lexer::new(text), partitions: None, named_meshes: Vec::new() }
    }

    fn here(&self) -> Position {
        let (line, column) = self.lexer.position();
        Position { line, column }
    }

    fn unexpected(&self, expected: &'static str, got: Token<'a>) -> SignatureError {
        SignatureError::Unexpected { expected, got: got.describe(), at: self.here() }
    }

    fn unsupported(&self, what: impl Into<String>) -> SignatureError {
        SignatureError::Unsupported { what: what.into(), at: self.here() }
    }

    fn too_many(&self, what: &'static str, limit: usize) -> SignatureError {
        SignatureError::TooMany { what, limit, at: self.here() }
    }

    fn expect(&mut self, punct: char, expected: &'static str) -> Result<(), SignatureError> {
        match self.lexer.next() {
            Token::Punct(got) if got == punct => Ok(()),
            got => Err(self.unexpected(expected, got)),
        }
    }

    /// Takes `punct` when it is next.
    fn accept(&mut self, punct: char) -> bool {
        let found = self.lexer.peek() == Token::Punct(punct);
        if found {
            self.lexer.next();
        }
        found
    }

    fn number(&mut self) -> Result<usize, SignatureError> {
        match self.lexer.next() {
            Token::Word(word) => word.parse().map_err(|_| self.unexpected("a number", Token::Word(word))),
            got => Err(self.unexpected("a number", got)),
        }
    }

    /// `= 16 : i32` behind `mhlo.num_partitions`.
    fn partitions(&mut self) -> Result<(), SignatureError> {
        self.expect('=', "`=`")?;
        let count = self.number()?;
        if count == 0 {
            return Err(self.unsupported("a program for 0 partitions"));
        }
        self.partitions = Some(count);
        Ok(())
    }

    /// `= 1 : i32` behind `mhlo.num_replicas`.
    fn replicas(&mut self) -> Result<(), SignatureError> {
        self.expect('=', "`=`")?;
        match self.number()? {
            1 => Ok(()),
            count => Err(self.unsupported(format!("a program for {count} replicas instead of partitions"))),
        }
    }

    /// What stands behind `func.func`: the signature, when it is `@main`.
    fn function(&mut self) -> Result<Option<Signature>, SignatureError> {
        let mut name = self.lexer.next();
        if let Token::Word("public" | "private" | "nested") = name {
            name = self.lexer.next();
        }
        match name {
            Token::Symbol("main") => {}
            Token::Symbol(_) => return Ok(None),
            got => return Err(self.unexpected("the name of a function", got)),
        }
        let mut signature = Signature::default();
        self.expect('(', "`(`")?;
        while !self.accept(')') {
            signature.arguments.push(self.argument()?);
            if signature.arguments.len() > PORTS_MAX {
                return Err(self.too_many("arguments", PORTS_MAX));
            }
            if !self.accept(',') {
                self.expect(')', "`,` or `)`")?;
                break;
            }
        }
        if self.lexer.peek() == Token::Arrow {
            self.lexer.next();
            signature.outputs = self.outputs()?;
        }
        Ok(Some(signature))
    }

    /// `%arg0: tensor<4xf32> {..} loc(..)`.
    fn argument(&mut self) -> Result<ArgumentSpec, SignatureError> {
        match self.lexer.next() {
            Token::Sigil(name) if name.starts_with('%') => {}
            got => return Err(self.unexpected("an argument", got)),
        }
        self.expect(':', "`:`")?;
        let tensor = self.tensor()?;
        let attributes = self.attributes(tensor.shape.len())?;
        if let Token::Word("loc") = self.lexer.peek() {
            self.lexer.next();
            self.expect('(', "`(`")?;
            self.skip_to_closing(')')?;
        }
        Ok(ArgumentSpec { tensor, sharding: attributes.sharding, donated: attributes.donated })
    }

    /// One type, or types with attributes in parentheses.
    fn outputs(&mut self) -> Result<Vec<OutputSpec>, SignatureError> {
        if !self.accept('(') {
            let tensor = self.tensor()?;
            return Ok(vec![OutputSpec { tensor, sharding: ShardingSpec::Unspecified }]);
        }
        let mut outputs = Vec::new();
        while !self.accept(')') {
            let tensor = self.tensor()?;
            let attributes = self.attributes(tensor.shape.len())?;
            outputs.push(OutputSpec { tensor, sharding: attributes.sharding });
            if outputs.len() > PORTS_MAX {
                return Err(self.too_many("outputs", PORTS_MAX));
            }
            if !self.accept(',') {
                self.expect(')', "`,` or `)`")?;
                break;
            }
        }
        Ok(outputs)
    }

    /// `{name = value, ..}`, or nothing.
    fn attributes(&mut self, rank: usize) -> Result<Attributes, SignatureError> {
        let mut attributes = Attributes { sharding: ShardingSpec::Unspecified, donated: false };
        if !self.accept('{') {
            return Ok(attributes);
        }
        while !self.accept('}') {
            let (Token::Word(name) | Token::Text(name)) = self.lexer.next() else {
                return Err(self.unexpected("the name of an attribute", self.lexer.peek()));
            };
            let has_value = self.accept('=');
            match name {
                "sdy.sharding" if has_value => attributes.sharding = self.axes_sharding(rank)?,
                "mhlo.sharding" if has_value => attributes.sharding = self.tiles_sharding()?,
                "tf.aliasing_output" => {
                    attributes.donated = true;
                    self.skip_value()?;
                }
                "jax.buffer_donor" => attributes.donated = self.flag(has_value)?,
                _ => self.skip_value()?,
            }
            if !self.accept(',') {
                self.expect('}', "`,` or `}`")?;
                break;
            }
        }
        Ok(attributes)
    }

    /// The value of a flag, which may stand alone.
    fn flag(&mut self, has_value: bool) -> Result<bool, SignatureError> {
        if !has_value {
            return Ok(true);
        }
        match self.lexer.next() {
            Token::Word("true") => Ok(true),
            Token::Word("false") => Ok(false),
            got => Err(self.unexpected("`true` or `false`", got)),
        }
    }

    /// Skips to the end of an attribute's value: the next comma or closing brace outside all brackets.
    fn skip_value(&mut self) -> Result<(), SignatureError> {
        loop {
            match self.lexer.peek() {
                Token::Punct(',' | '}') => return Ok(()),
                Token::End => return Err(self.unexpected("the end of an attribute", Token::End)),
                Token::Punct(open) if closing(open).is_some() => {
                    self.lexer.next();
                    self.skip_to_closing(closing(open).unwrap_or(open))?;
                }
                _ => drop(self.lexer.next()),
            }
        }
    }

    /// Skips behind the bracket that closes the one just taken.
    fn skip_to_closing(&mut self, close: char) -> Result<(), SignatureError> {
        let mut open = vec![close];
        while let Some(innermost) = open.last() {
            match self.lexer.next() {
                Token::Punct(punct) if punct == *innermost => drop(open.pop()),
                Token::Punct(punct) => open.extend(closing(punct)),
                Token::End => return Err(self.unexpected("a closing bracket", Token::End)),
                _ => {}
            }
            if open.len() > DEPTH_MAX {
                return Err(self.too_many("nested brackets", DEPTH_MAX));
            }
        }
        Ok(())
    }
}

/// The bracket that closes `open`.
fn closing(open: char) -> Option<char> {
    match open {
        '(' => Some(')'),
        '[' => Some(']'),
        '{' => Some('}'),
        '<' => Some('>'),
        _ => None,
    }
}
