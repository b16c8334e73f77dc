//! A program of JAX's `shard_map` with explicit collectives.

use mobula_xla::array::Array;
use mobula_xla::executable::Executable;
use mobula_xla::sharding::Sharding;

use crate::support::{floats, mesh, program};

async fn check(count: usize) {
    let mesh = mesh(&[("x", count)]).await;
    let program = program(&format!("collectives_{count}.mlir")).await;
    let executable = Executable::compile(&program, &mesh).await.unwrap();
    let x = ndarray::Array1::from_shape_fn(4 * count, |index| index as f32 * 0.5);
    let x = Array::from_ndarray(&mesh, &Sharding::over([["x"]]), x).await.unwrap();
    let outputs = executable.run(vec![x]).await.unwrap();
    let mut got = Vec::new();
    for output in &outputs {
        got.extend(output.to_ndarray::<f32>().await.unwrap());
    }
    assert_eq!(got, floats(&format!("collectives_{count}.bin")));
    // The text does not say how outputs are spread; the compiler did as `out_specs` asked.
    let shardings: Vec<&Sharding> = outputs.iter().map(Array::sharding).collect();
    let split = Sharding::over([["x"]]);
    assert_eq!(shardings, [&Sharding::replicated(), &Sharding::replicated(), &split, &split]);
}

#[tokio::test]
async fn collectives_over_8_devices() {
    check(8).await;
}

#[tokio::test]
async fn collectives_over_16_devices() {
    check(16).await;
}
