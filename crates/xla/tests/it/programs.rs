//! Programs that the compiler refuses, and programs that do not fit their mesh or signature.

use mobula_xla::Code;
use mobula_xla::dtype::{DType, TensorType};
use mobula_xla::executable::{CompileError, Executable, SignatureMismatch};
use mobula_xla::mesh::Mesh;
use mobula_xla::program::{Program, ProgramError, ShardingSpec, Signature};
use mobula_xla::sharding::{Sharding, ShardingError};

use crate::support::{bytes, fixture, mesh, program};

async fn refusal(mesh: &Mesh, text: &str) -> (Option<(usize, usize)>, String) {
    let program = Program::from_text(text).unwrap();
    match Executable::compile(&program, mesh).await.unwrap_err() {
        CompileError::Rejected { at, source, .. } => {
            assert_eq!(source.call, "Client_Compile");
            (at.map(|at| (at.line, at.column)), source.message)
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn the_compiler_says_where_the_text_is_wrong() {
    let mesh = mesh(&[("x", 1)]).await;
    let body = |lines: &str| {
        format!(
            "module @m {{\n func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n{lines}\n }}\n}}"
        )
    };
    let (at, message) = refusal(&mesh, &body("  garbage here")).await;
    assert_eq!(at, Some((3, 3)), "{message}");
    assert!(message.contains("garbage"), "{message}");
    let unknown = "  %y = stablehlo.foo %x : tensor<4xf32>\n  return %y : tensor<4xf32>";
    let (at, message) = refusal(&mesh, &body(unknown)).await;
    assert_eq!(at, Some((3, 8)), "{message}");
    assert!(message.contains("stablehlo.foo"), "{message}");
    let types = "  %y = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<5xf32>\n  return %x : tensor<4xf32>";
    let (at, message) = refusal(&mesh, &body(types)).await;
    assert_eq!(at, Some((3, 8)), "{message}");
    let undeclared = "  %y = stablehlo.add %x, %z : tensor<4xf32>\n  return %y : tensor<4xf32>";
    let (at, _) = refusal(&mesh, &body(undeclared)).await;
    assert_eq!(at.map(|at| at.0), Some(3));
    let result = "module @m { func.func public @main(%x: tensor<4xf32>) -> tensor<5xf32> {\n \
                  return %x : tensor<4xf32> } }";
    let (at, message) = refusal(&mesh, result).await;
    assert_eq!(at, Some((2, 2)), "{message}");
    let open = "module @m { func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n \
                return %x : tensor<4xf32>";
    refusal(&mesh, open).await;
    // Nothing of it is left.
    assert_eq!(mesh.client().live_handles().executables, 0);
}

#[tokio::test]
async fn bytes_that_are_no_bytecode_are_refused() {
    let mesh = mesh(&[("x", 1)]).await;
    let signature = Signature::new(None).output(TensorType::new(DType::F32, []), Sharding::replicated());
    let whole = bytes("mlp_data16.mlirbc");
    for code in [&b"ML\xefRgarbage"[..], b"\0\0\0\0", &whole[..whole.len() / 2]] {
        let program = Program::from_bytes(code, signature.clone()).unwrap();
        let error = Executable::compile(&program, &mesh).await.unwrap_err();
        assert!(matches!(error, CompileError::Rejected { .. }), "{error}");
    }
}

#[tokio::test]
async fn the_mesh_must_be_the_programs() {
    let data = program("mlp_data16.mlir").await;
    let error = Executable::compile(&data, &mesh(&[("data", 8)]).await).await.unwrap_err();
    assert!(matches!(&error, CompileError::Mesh { .. }));
    assert!(error.to_string().contains("expects (data=16), got (data=8)"), "{error}");
    let grid = mesh(&[("data", 4), ("model", 4)]).await;
    assert!(matches!(Executable::compile(&data, &grid).await, Err(CompileError::Mesh { .. })));
    let older = program("mlp_4x4_gspmd.mlir").await;
    let error = Executable::compile(&older, &mesh(&[("data", 8)]).await).await.unwrap_err();
    assert_eq!(error, CompileError::Partitions { expected: 16, got: 8 });
    // Axes that cannot mean what the older notation says.
    let error = Executable::compile(&older, &mesh(&[("x", 16)]).await).await.unwrap_err();
    assert!(matches!(error, CompileError::Tiles { what: "argument", index: 0, .. }), "{error}");
}

#[tokio::test]
async fn a_signature_given_by_hand_is_checked() {
    let mesh = mesh(&[("data", 16)]).await;
    let right = program("mlp_data16.mlir").await.signature().clone();
    let compile = async |change: &dyn Fn(&mut Signature)| {
        let mut signature = right.clone();
        change(&mut signature);
        let program = Program::from_bytes(bytes("mlp_data16.mlirbc"), signature).unwrap();
        Executable::compile(&program, &mesh).await.unwrap_err()
    };
    let error = compile(&|signature| drop(signature.outputs.pop())).await;
    assert_eq!(error, CompileError::OutputCount { expected: 4, got: 5 });
    let error = compile(&|signature| drop(signature.arguments.pop())).await;
    assert_eq!(error, CompileError::ArgumentCount { expected: 5, got: 6 });
    let mismatch = |error| match error {
        CompileError::Signature(SignatureMismatch { what, index, expected, got_dtype, got_shape }) => {
            (what, index, expected.to_string(), format!("{got_dtype}{got_shape:?}"))
        }
        other => panic!("{other}"),
    };
    let error = compile(&|signature| signature.outputs[4].tensor.dtype = DType::F64).await;
    assert_eq!(mismatch(error), ("output", 4, "f64[]".into(), "f32[]".into()));
    let error = compile(&|signature| signature.arguments[5].tensor.dtype = DType::F32).await;
    assert_eq!(mismatch(error), ("argument", 5, "f32[4]".into(), "i32[4]".into()));
    // As many bytes, but in other dims.
    let columns = ShardingSpec::Axes(Sharding::over([vec![], vec!["data"]]));
    let error = compile(&|signature| signature.arguments[4].sharding = columns.clone()).await;
    assert_eq!(mismatch(error), ("argument", 4, "f32[64, 1]".into(), "f32[4, 16]".into()));
    let unknown = ShardingSpec::Axes(Sharding::over([["model"]]));
    let error = compile(&|signature| signature.arguments[4].sharding = unknown.clone()).await;
    assert!(matches!(error, CompileError::Sharding(ShardingError::UnknownAxis { .. })), "{error}");
}

#[tokio::test]
async fn files_that_are_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.mlir");
    let error = Program::from_file(&missing).await.unwrap_err();
    assert!(matches!(&error, ProgramError::Read { path, .. } if *path == missing), "{error}");
    assert!(matches!(Program::from_file(folder.path()).await, Err(ProgramError::Read { .. })));
    let empty = folder.path().join("empty.mlir");
    std::fs::write(&empty, "").unwrap();
    assert!(matches!(Program::from_file(&empty).await, Err(ProgramError::Empty)));
    let binary = folder.path().join("binary.mlir");
    std::fs::write(&binary, b"module \xff").unwrap();
    assert!(matches!(Program::from_file(&binary).await, Err(ProgramError::NotText { valid_up_to: 7 })));
    let bytecode = Program::from_file(fixture("mlp_data16.mlirbc")).await;
    assert!(matches!(bytecode, Err(ProgramError::BytecodeNeedsSignature)));
    assert!(matches!(Program::from_bytes(vec![], Signature::new(None)), Err(ProgramError::Empty)));
}

#[tokio::test]
async fn what_the_compiler_refuses_keeps_its_code() {
    // A custom call that nobody registered.
    let text = r#"module @m { func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = stablehlo.custom_call @nobody(%x) {api_version = 4 : i32, backend_config = {}}
          : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32> } }"#;
    let mesh = mesh(&[("x", 1)]).await;
    let error = Executable::compile(&Program::from_text(text).unwrap(), &mesh).await.unwrap_err();
    let CompileError::Rejected { at: None, source, .. } = error else { panic!("{error}") };
    assert!(matches!(source.code, Code::NotFound | Code::Unimplemented | Code::InvalidArgument), "{source}");
    assert!(source.message.contains("nobody"), "{source}");
}
