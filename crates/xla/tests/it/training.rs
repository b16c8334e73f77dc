//! A training step exported by JAX: the losses are JAX's, on one line of devices and on a grid.

use mobula_xla::array::Array;
use mobula_xla::executable::{ArgumentError, Executable, RunFailure};
use mobula_xla::mesh::Mesh;
use mobula_xla::program::Program;

use crate::support::{assert_close, bytes, floats, lines, mesh, program};

/// The shapes of the parameters in the order of the program: b1, b2, w1, w2.
const SHAPES: [&[usize]; 4] = [&[32], &[4], &[16, 32], &[32, 4]];

/// Parameters, inputs and labels, spread as the executable wants them.
async fn arguments(executable: &Executable, mesh: &Mesh) -> Vec<Array> {
    let mut numbers = floats("mlp_init.bin").into_iter();
    let batch = bytes("mlp_batch.bin");
    let (inputs, labels) = batch.split_at(64 * 16 * 4);
    let floats = |bytes: &[u8]| -> Vec<f32> {
        bytes.chunks_exact(4).map(|chunk| f32::from_le_bytes(chunk.try_into().unwrap())).collect()
    };
    let integers: Vec<i32> =
        labels.chunks_exact(4).map(|chunk| i32::from_le_bytes(chunk.try_into().unwrap())).collect();
    let shardings: Vec<_> = executable.arguments().map(|argument| argument.sharding.clone()).collect();
    let mut arguments = Vec::new();
    for (shape, sharding) in SHAPES.iter().zip(&shardings) {
        let count = shape.iter().product();
        let data: Vec<f32> = numbers.by_ref().take(count).collect();
        let data = ndarray::ArrayD::from_shape_vec(*shape, data).unwrap();
        arguments.push(Array::from_ndarray(mesh, sharding, data).await.unwrap());
    }
    let inputs = ndarray::Array2::from_shape_vec((64, 16), floats(inputs)).unwrap();
    arguments.push(Array::from_ndarray(mesh, &shardings[4], inputs).await.unwrap());
    let labels = ndarray::Array1::from_vec(integers);
    arguments.push(Array::from_ndarray(mesh, &shardings[5], labels).await.unwrap());
    arguments
}

/// Trains as long as JAX did and compares losses and parameters.
async fn train(program: &Program, mesh: &Mesh) {
    let executable = Executable::compile(program, mesh).await.unwrap();
    let mut state = arguments(&executable, mesh).await;
    let batch = state.split_off(4);
    let expected = lines("mlp_losses.txt");
    let mut losses = Vec::new();
    for _ in &expected {
        let kept = state[2].clone();
        let mut outputs = executable.run([state, batch.clone()].concat()).await.unwrap();
        assert!(kept.is_donated());
        assert!(batch.iter().all(|array| !array.is_donated()));
        losses.push(outputs.pop().unwrap());
        state = outputs;
    }
    let mut got = Vec::new();
    for loss in losses {
        got.push(loss.to_ndarray::<f32>().await.unwrap().into_iter().next().unwrap());
    }
    assert_close(&got, &expected, 1e-5);
    let mut parameters = Vec::new();
    for array in &state {
        parameters.extend(array.to_ndarray::<f32>().await.unwrap());
    }
    assert_close(&parameters, &floats("mlp_after.bin"), 1e-5);
}

#[tokio::test]
async fn data_parallel_over_16_devices() {
    let mesh = mesh(&[("data", 16)]).await;
    train(&program("mlp_data16.mlir").await, &mesh).await;
}

#[tokio::test]
async fn data_and_model_parallel_on_a_grid() {
    let mesh = mesh(&[("data", 4), ("model", 4)]).await;
    train(&program("mlp_4x4.mlir").await, &mesh).await;
}

#[tokio::test]
async fn shardings_in_the_older_notation() {
    let mesh = mesh(&[("data", 4), ("model", 4)]).await;
    train(&program("mlp_4x4_gspmd.mlir").await, &mesh).await;
}

#[tokio::test]
async fn bytecode_with_a_signature_given_by_hand() {
    let mesh = mesh(&[("data", 16)]).await;
    let text = program("mlp_data16.mlir").await;
    let bytecode = Program::from_bytes(bytes("mlp_data16.mlirbc"), text.signature().clone()).unwrap();
    train(&bytecode, &mesh).await;
}

#[tokio::test]
async fn a_donated_argument_cannot_be_used_again() {
    let mesh = mesh(&[("data", 16)]).await;
    let executable = Executable::compile(&program("mlp_data16.mlir").await, &mesh).await.unwrap();
    let arguments = arguments(&executable, &mesh).await;
    executable.run(arguments.clone()).await.unwrap();
    let error = executable.run(arguments).await.unwrap_err();
    assert!(
        matches!(error.failure(), RunFailure::Argument { index: 0, source: ArgumentError::Donated }),
        "{error}"
    );
    assert_eq!(error.into_arguments().len(), 6);
}
