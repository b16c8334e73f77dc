//! From a program and a mesh to an executable: everything that is settled before the first launch.

use std::sync::Arc;

use super::error::{CompileError, SignatureMismatch};
use super::hlo;
use super::options::Options;
use super::{Argument, Executable, Inner, Output, Port};
use crate::client::Device;
use crate::dtype::{DType, TensorType};
use crate::mesh::Mesh;
use crate::pjrt::{LoadedExecutable, PjrtError};
use crate::program::{Program, ShardingSpec, Signature};
use crate::sharding::{Sharding, Tiles};

/// Compiles `program` for `mesh`; blocks.
pub(super) fn compile(program: &Program, mesh: &Mesh) -> Result<Executable, CompileError> {
    let signature = program.signature();
    check_mesh(signature, mesh)?;
    let devices: Vec<i32> = mesh.devices().iter().map(Device::id).collect();
    let options = Options { devices, partitioner: program.partitioner() }.encode();
    let loaded = LoadedExecutable::compile(mesh.client().raw(), program.code(), &options)
        .map_err(|error| CompileError::rejected(program.name(), error))?;
    let order = order(&loaded, mesh)?;
    let Ports { arguments, outputs } = ports(signature, mesh, &loaded)?;
    check_outputs(&loaded, &outputs, mesh)?;
    if !program.is_signature_read() {
        check_arguments(&loaded, &arguments, mesh)?;
    }
    let digest = program.digest().with(format!("{:?}{options:?}", mesh.shape()).as_bytes());
    let name = program.name().to_owned();
    Ok(Executable(Arc::new(Inner { name, digest, mesh: mesh.clone(), arguments, outputs, loaded, order })))
}

/// Checks that the program is written for this mesh.
fn check_mesh(signature: &Signature, mesh: &Mesh) -> Result<(), CompileError> {
    if let Some(expected) = &signature.mesh
        && expected != mesh.shape()
    {
        return Err(CompileError::Mesh { expected: expected.clone(), got: mesh.shape().clone() });
    }
    let got = mesh.devices().len();
    match signature.partitions {
        Some(expected) if expected != got => Err(CompileError::Partitions { expected, got }),
        _ => Ok(()),
    }
}

/// For each list of a launch, where its device lies in the mesh.
fn order(loaded: &LoadedExecutable, mesh: &Mesh) -> Result<Vec<usize>, CompileError> {
    let position = |handle| mesh.devices().iter().position(|device| device.raw() == handle);
    let order: Option<Vec<usize>> = loaded.devices().iter().map(|handle| position(*handle)).collect();
    let (expected, got) = (mesh.devices().len(), loaded.devices().len());
    order.filter(|order| order.len() == expected).ok_or(CompileError::Devices { expected, got })
}

/// The two lists of an executable.
struct Ports {
    arguments: Vec<Port<Argument>>,
    outputs: Vec<Port<Output>>,
}

/// Arguments and outputs with the shardings that the program states or the compiler chose.
fn ports(signature: &Signature, mesh: &Mesh, loaded: &LoadedExecutable) -> Result<Ports, CompileError> {
    let (inputs, results) = chosen(loaded)?;
    let mut arguments = Vec::with_capacity(signature.arguments.len());
    for (index, argument) in signature.arguments.iter().enumerate() {
        let tensor = argument.tensor.clone();
        let sharding = inputs.resolve(index, &argument.sharding, &tensor, mesh)?;
        let slices = sharding.slices(mesh.shape(), &tensor.shape)?.into();
        arguments.push(Port { spec: Argument { tensor, sharding, donated: argument.donated }, slices });
    }
    let mut outputs = Vec::with_capacity(signature.outputs.len());
    for (index, output) in signature.outputs.iter().enumerate() {
        let tensor = output.tensor.clone();
        let sharding = results.resolve(index, &output.sharding, &tensor, mesh)?;
        let slices = sharding.slices(mesh.shape(), &tensor.shape)?.into();
        outputs.push(Port { spec: Output { tensor, sharding }, slices });
    }
    Ok(Ports { arguments, outputs })
}

/// What the compiler chose: by the plugin's extension, else from the compiled program.
fn chosen(loaded: &LoadedExecutable) -> Result<(Chosen, Chosen), CompileError> {
    let (mut inputs, mut results) = (loaded.parameter_shardings()?, loaded.output_shardings()?);
    if inputs.is_none() || results.is_none() {
        let program = loaded.optimized_program()?;
        if let Some(chosen) = program.as_deref().and_then(hlo::shardings) {
            inputs = inputs.or(Some(chosen.parameters));
            results = results.or(Some(chosen.outputs));
        }
    }
    Ok((Chosen { what: "argument", protos: inputs }, Chosen { what: "output", protos: results }))
}

/// The shardings that the compiler chose for all arguments, or all outputs.
struct Chosen {
    what: &'static str,
    protos: Option<Vec<Vec<u8>>>,
}

impl Chosen {
    fn resolve(
        &self,
        index: usize,
        spec: &ShardingSpec,
        tensor: &TensorType,
        mesh: &Mesh,
    ) -> Result<Sharding, CompileError> {
        let rank = tensor.shape.len();
        let what = self.what;
        let wrong = |source| CompileError::Tiles { what, index, source };
        match spec {
            ShardingSpec::Axes(sharding) => Ok(sharding.clone()),
            ShardingSpec::Tiles(tiles) => tiles.to_sharding(mesh.shape(), rank).map_err(wrong),
            ShardingSpec::Unspecified if mesh.devices().len() == 1 => Ok(Sharding::replicated()),
            ShardingSpec::Unspecified => {
                let proto = self.protos.as_ref().and_then(|protos| protos.get(index));
                let proto = proto.ok_or(CompileError::UnknownSharding { what, index })?;
                Tiles::from_proto(proto)
                    .and_then(|tiles| tiles.to_sharding(mesh.shape(), rank))
                    .map_err(wrong)
            }
        }
    }
}

/// Checks a signature that was given by hand against the parameters of the compiled program, where the plugin
/// shows it.
///
/// A launch alone would not notice: the plugin compares sizes in bytes and nothing else.
fn check_arguments(
    loaded: &LoadedExecutable,
    arguments: &[Port<Argument>],
    mesh: &Mesh,
) -> Result<(), CompileError> {
    let program = loaded.optimized_program()?;
    let Some(parameters) = program.as_deref().and_then(hlo::parameters) else { return Ok(()) };
    let (expected, got) = (arguments.len(), parameters.len());
    if expected != got {
        return Err(CompileError::ArgumentCount { expected, got });
    }
    for (index, (port, parameter)) in arguments.iter().zip(parameters).enumerate() {
        let Argument { tensor, sharding, .. } = &port.spec;
        let shard = TensorType::new(tensor.dtype, sharding.shard_shape(mesh.shape(), &tensor.shape)?);
        if parameter.dtype != Some(shard.dtype) || parameter.shape != shard.shape {
            let got_dtype =
                parameter.dtype.map_or_else(|| "another type".to_owned(), |dtype| dtype.to_string());
            let (what, expected, got_shape) = ("argument", shard, parameter.shape);
            return Err(CompileError::Signature(SignatureMismatch {
                what,
                index,
                expected,
                got_dtype,
                got_shape,
            }));
        }
    }
    Ok(())
}

/// Checks what the compiler says of the outputs against the signature.
fn check_outputs(
    loaded: &LoadedExecutable,
    outputs: &[Port<Output>],
    mesh: &Mesh,
) -> Result<(), CompileError> {
    let (expected, got) = (outputs.len(), loaded.output_count());
    if expected != got {
        return Err(CompileError::OutputCount { expected, got });
    }
    let types: Result<_, PjrtError> = loaded.output_types();
    // What the plugin cannot tell is not checked.
    let Ok(types) = types else { return Ok(()) };
    for (index, (port, (dtype, dims))) in outputs.iter().zip(types).enumerate() {
        let Output { tensor, sharding } = &port.spec;
        let shard = TensorType::new(tensor.dtype, sharding.shard_shape(mesh.shape(), &tensor.shape)?);
        let got_shape: Vec<usize> =
            dims.iter().map(|dim| usize::try_from(*dim).unwrap_or(usize::MAX)).collect();
        if DType::from_raw(dtype) != Some(tensor.dtype) || got_shape != shard.shape {
            let got_dtype =
                DType::from_raw(dtype).map_or_else(|| format!("type {dtype}"), |dtype| dtype.to_string());
            let (what, expected) = ("output", shard);
            return Err(CompileError::Signature(SignatureMismatch {
                what,
                index,
                expected,
                got_dtype,
                got_shape,
            }));
        }
    }
    Ok(())
}
