//! Parameters and shardings of a compiled program, read from XLA's own message.
//!
//! Source: `xla/service/hlo.proto` and `xla/xla_data.proto`: `HloModuleProtoWithConfig.hlo_module = 1`; of
//! `HloModuleProto` `host_program_shape = 4`, `spmd_output_sharding = 12` and `spmd_parameters_shardings =
//! 14`; `ProgramShapeProto.parameters = 1`; `ShapeProto.element_type = 2` and `.dimensions = 3`;
//! `OpSharding.type = 1` (2 is a tuple) and `.tuple_shardings = 5`.

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

/// What the compiler chose, each as a serialized `OpSharding`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shardings {
    /// Of each parameter.
    pub(super) parameters: Vec<Vec<u8>>,
    /// Of each output.
    pub(super) outputs: Vec<Vec<u8>>,
}

/// The serialized `OpSharding` of each parameter and of each output; empty where the module does not have
/// them.
pub(super) fn shardings(program: &[u8]) -> Option<Shardings> {
    let module = last(program, 1)?;
    let parameters = all(module, 14)?;
    let Some(output) = last(module, 12) else { return Some(Shardings { parameters, outputs: Vec::new() }) };
    let kind = Reader::new(output).find_map(|field| field.ok().filter(|field| field.number == 1)?.integer());
    let outputs = if kind == Some(TUPLE) { all(output, 5)? } else { vec![output.to_vec()] };
    Some(Shardings { parameters, outputs })
}

/// `OpSharding.Type.TUPLE`.
const TUPLE: u64 = 2;

/// All messages with this number.
fn all(message: &[u8], number: u32) -> Option<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for field in Reader::new(message) {
        let field = field.ok()?;
        if field.number == number {
            found.push(field.bytes()?.to_vec());
        }
    }
    Some(found)
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
