//! Tensor types, meshes and shardings.

use std::sync::Arc;

use super::{Parser, SignatureError};
use crate::dtype::{DType, TensorType};
use crate::mesh::{AXES_MAX, MeshShape};
use crate::program::lexer::Token;
use crate::program::signature::ShardingSpec;
use crate::sharding::{Sharding, Tiles};

/// The most dims of a tensor.
const RANK_MAX: usize = 64;

impl Parser<'_> {
    /// `tensor<8x128xf32>`.
    pub(super) fn tensor(&mut self) -> Result<TensorType, SignatureError> {
        match self.lexer.next() {
            Token::Word("tensor") => {}
            Token::Sigil(name) => return Err(self.unsupported(format!("the type `{name}`"))),
            Token::Word("tuple") => return Err(self.unsupported("the type `tuple`")),
            got => return Err(self.unexpected("a tensor type", got)),
        }
        self.expect('<', "`<`")?;
        let word = match self.lexer.next() {
            Token::Word(word) => word,
            Token::Punct('?' | '*') => return Err(self.unsupported("a tensor of dynamic shape")),
            got => return Err(self.unexpected("dims and element type", got)),
        };
        let (shape, name) = self.dims(word)?;
        if name.is_empty() && self.lexer.peek() == Token::Punct('?') {
            return Err(self.unsupported("a tensor of dynamic shape"));
        }
        let dtype = if name == "complex" { self.complex()? } else { name.to_owned() };
        let dtype = DType::from_stablehlo(&dtype)
            .ok_or_else(|| self.unsupported(format!("the element type `{dtype}`")))?;
        match self.lexer.next() {
            Token::Punct('>') => {}
            Token::Punct(',') => return Err(self.unsupported("a tensor type with an encoding")),
            Token::Punct('?') => return Err(self.unsupported("a tensor of dynamic shape")),
            got => return Err(self.unexpected("`>`", got)),
        }
        let tensor = TensorType { dtype, shape };
        if tensor.element_count().is_none() {
            return Err(self.unsupported(format!("a tensor as large as {tensor}")));
        }
        Ok(tensor)
    }

    /// Splits `8x128xf32` into extents and the name of the element type.
    fn dims<'w>(&self, word: &'w str) -> Result<(Vec<usize>, &'w str), SignatureError> {
        let (mut shape, mut rest) = (Vec::new(), word);
        while rest.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let extent = rest[..digits].parse();
            shape.push(
                extent.map_err(|_| self.unsupported(format!("the extent {}", &rest[..digits.min(40)])))?,
            );
            rest = rest[digits..]
                .strip_prefix('x')
                .ok_or_else(|| self.unexpected("`x` between extents and element type", Token::Word(word)))?;
            if shape.len() > RANK_MAX {
                return Err(self.too_many("dims", RANK_MAX));
            }
        }
        Ok((shape, rest))
    }

    /// `<f32>` behind `complex`.
    fn complex(&mut self) -> Result<String, SignatureError> {
        self.expect('<', "`<`")?;
        let Token::Word(part) = self.lexer.next() else {
            return Err(self.unsupported("this complex type"));
        };
        let name = format!("complex<{part}>");
        self.expect('>', "`>`")?;
        Ok(name)
    }

    /// `@mesh = <["data"=4, "model"=4]> {..}` behind `sdy.mesh`.
    pub(super) fn mesh(&mut self) -> Result<(String, MeshShape), SignatureError> {
        let name = match self.lexer.next() {
            Token::Symbol(name) => name.to_owned(),
            got => return Err(self.unexpected("the name of a mesh", got)),
        };
        self.expect('=', "`=`")?;
        self.expect('<', "`<`")?;
        self.expect('[', "`[`")?;
        let mut axes = Vec::new();
        while !self.accept(']') {
            let axis = match self.lexer.next() {
                Token::Text(axis) => axis.to_owned(),
                got => return Err(self.unexpected("the name of an axis", got)),
            };
            self.expect('=', "`=`")?;
            axes.push((axis, self.number()?));
            if axes.len() > AXES_MAX {
                return Err(self.too_many("axes of a mesh", AXES_MAX));
            }
            if !self.accept(',') {
                self.expect(']', "`,` or `]`")?;
                break;
            }
        }
        if self.accept(',') {
            return Err(self.unsupported("a mesh with an order of devices of its own (`device_ids`)"));
        }
        self.expect('>', "`>`")?;
        let at = self.here();
        let mesh = MeshShape::new(axes).map_err(|source| SignatureError::Mesh { source, at })?;
        Ok((name, mesh))
    }

    /// `#sdy.sharding<@mesh, [{"data"}, {}]>`.
    pub(super) fn axes_sharding(&mut self, rank: usize) -> Result<ShardingSpec, SignatureError> {
        match self.lexer.next() {
            Token::Sigil("#sdy.sharding") => {}
            got => return Err(self.unexpected("`#sdy.sharding`", got)),
        }
        self.expect('<', "`<`")?;
        let mesh = match self.lexer.next() {
            Token::Symbol(mesh) => mesh.to_owned(),
            Token::Word("mesh") => return Err(self.unsupported("a mesh inside a sharding")),
            got => return Err(self.unexpected("the name of a mesh", got)),
        };
        self.expect(',', "`,`")?;
        self.expect('[', "`[`")?;
        let (mut dims, mut open) = (Vec::new(), false);
        while !self.accept(']') {
            let (axes, is_open) = self.dim_axes()?;
            dims.push(axes);
            open |= is_open;
            if dims.len() > rank {
                return Err(
                    self.unexpected("as many lists of axes as the tensor has dims", Token::Punct('{'))
                );
            }
            if !self.accept(',') {
                self.expect(']', "`,` or `]`")?;
                break;
            }
        }
        self.replicated_axes()?;
        if dims.iter().any(|axes| !axes.is_empty()) && !self.named_meshes.contains(&mesh) {
            self.named_meshes.push(mesh);
        }
        // An open dim may be split further: what came of it is the compiler's to say.
        Ok(if open { ShardingSpec::Unspecified } else { ShardingSpec::Axes(Sharding::over(dims)) })
    }

    /// `{"data", "model", ?}p1`: the axes of one dim, and whether it is open.
    fn dim_axes(&mut self) -> Result<(Vec<Arc<str>>, bool), SignatureError> {
        self.expect('{', "`{`")?;
        let (mut axes, mut open) = (Vec::new(), false);
        while !self.accept('}') {
            match self.lexer.next() {
                Token::Text(axis) => axes.push(Arc::from(axis)),
                Token::Punct('?') => open = true,
                got => return Err(self.unexpected("the name of an axis", got)),
            }
            if self.accept(':') {
                return Err(self.unsupported("a sharding over a part of an axis"));
            }
            if axes.len() > AXES_MAX {
                return Err(self.too_many("axes of a dim", AXES_MAX));
            }
            if !self.accept(',') {
                self.expect('}', "`,` or `}`")?;
                break;
            }
        }
        if let Token::Word(priority) = self.lexer.peek()
            && priority.starts_with('p')
        {
            self.lexer.next();
        }
        Ok((axes, open))
    }

    /// `, replicated={"x"}>` or `>` behind the dims of a sharding.
    fn replicated_axes(&mut self) -> Result<(), SignatureError> {
        while self.accept(',') {
            match self.lexer.next() {
                Token::Word("replicated") => {}
                Token::Word(word) => return Err(self.unsupported(format!("`{word}` in a sharding"))),
                got => return Err(self.unexpected("`replicated`", got)),
            }
            self.expect('=', "`=`")?;
            self.expect('{', "`{`")?;
            self.skip_to_closing('}')?;
        }
        self.expect('>', "`>`")
    }

    /// `"{devices=[4,1]<=[4]}"`.
    pub(super) fn tiles_sharding(&mut self) -> Result<ShardingSpec, SignatureError> {
        match self.lexer.next() {
            Token::Text(text) => {
                let at = self.here();
                let tiles = Tiles::from_text(text).map_err(|source| SignatureError::Tiles { source, at })?;
                Ok(ShardingSpec::Tiles(tiles))
            }
            got => Err(self.unexpected("a sharding in quotes", got)),
        }
    }
}
