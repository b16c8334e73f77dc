//! The parameters of a compiled program, read from XLA's own message.
//!
//! Source: `xla/service/hlo.proto` and `xla/xla_data.proto`: `HloModuleProtoWithConfig.hlo_module = 1`,
//! `HloModuleProto.host_program_shape = 4`, `ProgramShapeProto.parameters = 1`, `ShapeProto.element_type = 2` and `.dimensions = 3`.

use crate::dtype::DType;
use crate::wire::Reader;

/// What one device takes for one parameter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    /// The element type, where it is represented.
    pub(super) dtype: Option<DType>,
    /// The extents on one device.
    pub(super) shape: Vec<usize>,
}

/// The parameters of a serialized `HloModuleProtoWithConfig`; `None` when it is not one.
pub(super) fn parameters(program: &[u8]) -> Option<Vec<Parameter>> {
    let module = last(program, 1)?;
    let shape = last(module, 4)?;
    let mut parameters = Vec::new();
    for field in Reader::new(shape) {
        let field = field.ok()?;
        if field.number == 1 {
            parameters.push(parameter(field.bytes()?)?);
        }
    }
    Some(parameters)
}

/// The last message with this number: later ones replace earlier ones.
fn last(message: &[u8], number: u32) -> Option<&[u8]> {
    let mut found = None;
    for field in Reader::new(message) {
        let field = field.ok()?;
        if field.number == number {
            found = Some(field.bytes()?);
        }
    }
    found
}

fn parameter(shape: &[u8]) -> Option<Parameter> {
    let (mut dtype, mut extents) = (None, Vec::new());
    for field in Reader::new(shape) {
        let field = field.ok()?;
        match field.number {
            2 => dtype = DType::from_hlo(field.integer()?),
            3 => field.append_integers(&mut extents),
            _ => {}
        }
    }
    let shape = extents.into_iter().map(usize::try_from).collect::<Result<_, _>>().ok()?;
    Some(Parameter { dtype, shape })
}
