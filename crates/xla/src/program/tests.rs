//! Signatures of programs, as JAX prints them and as nobody should.

use super::lexer::{Lexer, Token};
use super::*;
use crate::dtype::{DType, TensorType};
use crate::mesh::MeshShape;
use crate::sharding::Sharding;

fn read(text: &str) -> Signature {
    Program::from_text(text).unwrap().signature().clone()
}

fn fails(text: &str) -> SignatureError {
    match Program::from_text(text).unwrap_err() {
        ProgramError::Signature(error) => error,
        other => panic!("{other}"),
    }
}

/// A program with these arguments, in a module with a mesh.
fn with_arguments(arguments: &str) -> String {
    format!(
        "module @m {{\n sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n \
         func.func public @main({arguments}) {{ return }} }}"
    )
}

fn tensor(dtype: DType, shape: &[usize]) -> TensorType {
    TensorType::new(dtype, shape)
}

#[test]
fn a_training_step_of_jax() {
    let program = Program::from_text(include_str!("../../tests/fixtures/mlp_4x4.mlir")).unwrap();
    assert_eq!((program.name(), program.partitioner()), ("jit_step", Partitioner::Shardy));
    let model = || Sharding::over([["model"]]);
    let expected = Signature {
        mesh: Some(MeshShape::new([("data", 4), ("model", 4)]).unwrap()),
        partitions: Some(16),
        ..Signature::default()
    };
    let expected = expected
        .donated_argument(tensor(DType::F32, &[32]), model())
        .donated_argument(tensor(DType::F32, &[4]), Sharding::replicated())
        .donated_argument(tensor(DType::F32, &[16, 32]), Sharding::over([vec![], vec!["model"]]))
        .donated_argument(tensor(DType::F32, &[32, 4]), model())
        .argument(tensor(DType::F32, &[64, 16]), Sharding::over([["data"]]))
        .argument(tensor(DType::I32, &[64]), Sharding::over([["data"]]))
        .output(tensor(DType::F32, &[32]), model())
        .output(tensor(DType::F32, &[4]), Sharding::replicated())
        .output(tensor(DType::F32, &[16, 32]), Sharding::over([vec![], vec!["model"]]))
        .output(tensor(DType::F32, &[32, 4]), model())
        .output(tensor(DType::F32, &[]), Sharding::replicated());
    assert_eq!(*program.signature(), expected);
}

#[test]
fn the_older_notation_and_outputs_without_sharding() {
    let program = Program::from_text(include_str!("../../tests/fixtures/mlp_4x4_gspmd.mlir")).unwrap();
    assert_eq!(program.partitioner(), Partitioner::Gspmd);
    assert_eq!(program.signature().mesh, None);
    assert!(matches!(program.signature().arguments[0].sharding, ShardingSpec::Tiles(_)));
    let program = Program::from_text(include_str!("../../tests/fixtures/collectives_8.mlir")).unwrap();
    assert_eq!(program.signature().outputs.len(), 4);
    assert!(program.signature().outputs.iter().all(|output| output.sharding == ShardingSpec::Unspecified));
}

#[test]
fn all_element_types_and_ranks() {
    let signature = read(
        "func.func @main(%a: tensor<i1>, %b: tensor<3x0xi8>, %c: tensor<2xui16>, %d: tensor<4xcomplex<f32>>, \
         %e: tensor<f8E4M3FN>, %f: tensor<1x2x3x4x5xbf16>) -> tensor<f64> { return }",
    );
    let types: Vec<String> = signature.arguments.iter().map(|argument| argument.tensor.to_string()).collect();
    assert_eq!(types, ["bool[]", "i8[3, 0]", "u16[2]", "c64[4]", "f8e4m3fn[]", "bf16[1, 2, 3, 4, 5]"]);
    assert_eq!(signature.outputs[0].tensor, tensor(DType::F64, &[]));
}

#[test]
fn functions_and_modules_around_main_do_not_matter() {
    let text = r#"// func.func public @main(%no: tensor<i1>)
        #loc = loc("func.func public @main(")
        module @"a name" attributes {jax.uses_shape_polymorphism = false, a = {b = "}", c = [1, 2]}} {
          func.func private @helper(%arg0: tensor<2xf32>) -> tensor<2xf32> { return %arg0 : tensor<2xf32> }
          func.func public @main() attributes {x = "->"} { return }
        } loc(#loc)"#;
    let program = Program::from_text(text).unwrap();
    assert_eq!(program.name(), "a name");
    assert_eq!(*program.signature(), Signature::default());
}

#[test]
fn attributes_and_locations_of_arguments() {
    let signature = read(&with_arguments(
        r#"%a: tensor<8xf32> {jax.buffer_donor = true, z = dense<[1, 2]> : tensor<2xi64>} loc("a"(#loc1)),
           %b: tensor<8xf32> {jax.buffer_donor = false, "q\"}" = unit,
               sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>},
           %c: tensor<8x8xf32> {
               sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}p1], replicated={"x"}>, unit_attr},
           %d: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>,
               tf.aliasing_output = 0 : i32} loc(unknown)"#,
    ));
    let donated: Vec<bool> = signature.arguments.iter().map(|argument| argument.donated).collect();
    assert_eq!(donated, [true, false, false, true]);
    let shardings: Vec<&ShardingSpec> =
        signature.arguments.iter().map(|argument| &argument.sharding).collect();
    let unspecified = ShardingSpec::Unspecified;
    let (both, second) = (Sharding::over([["x", "y"]]).into(), Sharding::over([vec![], vec!["y"]]).into());
    assert_eq!(shardings, [&unspecified, &both, &second, &unspecified]);
}

#[test]
fn meshes_are_chosen_by_the_shardings() {
    let text = |sharding: &str| {
        format!(
            "sdy.mesh @a = <[\"x\"=4]>\n sdy.mesh @empty = <[]>\n sdy.mesh @b = <[\"y\"=2]>\n\
             func.func public @main(%a: tensor<8x8xf32> {{sdy.sharding = {sharding}}}) {{ return }}"
        )
    };
    assert_eq!(
        read(&text("#sdy.sharding<@b, [{\"y\"}, {}]>")).mesh,
        Some(MeshShape::new([("y", 2)]).unwrap())
    );
    assert_eq!(read(&text("#sdy.sharding<@empty, [{}, {}]>")).mesh, None);
    assert!(matches!(
        fails(&text("#sdy.sharding<@c, [{\"x\"}, {}]>")),
        SignatureError::Meshes { named, .. } if named == ["c"]
    ));
}

#[test]
fn what_is_not_supported_is_said_with_its_place() {
    let cases = [
        ("%a: tensor<?x4xf32>", "dynamic shape"),
        ("%a: tensor<4x?xf32>", "dynamic shape"),
        ("%a: tensor<*xf32>", "dynamic shape"),
        ("%a: !stablehlo.token", "`!stablehlo.token`"),
        ("%a: tensor<4xi4>", "`i4`"),
        ("%a: tensor<4xcomplex<i32>>", "`complex<i32>`"),
        ("%a: tensor<4xf32, #stablehlo.bounds<4>>", "encoding"),
        ("%a: tensor<99999999999999999999xf32>", "99999999999999999999"),
        ("%a: tensor<9999999999x9999999999xf32>", "as large as"),
        ("%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\":(1)2}]>}", "part of an axis"),
        ("%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[\"x\"=2]>, [{\"x\"}]>}", "mesh inside"),
        ("%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={\"x\"}>}", "unreduced"),
        ("%a: tensor<8xf32> {mhlo.sharding = \"{manual}\"}", "signature by hand"),
    ];
    for (argument, word) in cases {
        let error = fails(&with_arguments(argument));
        assert!(error.to_string().contains(word), "{argument}: {error}");
        assert!(error.to_string().contains(" at 3:"), "{argument}: {error}");
    }
    assert!(fails("module attributes {mhlo.num_replicas = 2 : i32} {}").to_string().contains("2 replicas"));
    assert!(fails("sdy.mesh @m = <[\"x\"=2], device_ids=[1, 0]>").to_string().contains("device_ids"));
}

#[test]
fn broken_text_is_refused() {
    assert!(matches!(Program::from_text(""), Err(ProgramError::Empty)));
    assert_eq!(fails("not a program"), SignatureError::NoMain);
    assert_eq!(fails("module @m { func.func public @other() { return } }"), SignatureError::NoMain);
    let main = "func.func public @main() { return }\n";
    assert!(matches!(fails(&main.repeat(2)), SignatureError::MainTwice { at: Position { line: 2, .. } }));
    let unexpected = [
        "func.func public @main(",
        "func.func public @main(%a)",
        "func.func public @main(%a: f32)",
        "func.func public @main(%a: tensor<4xf32)",
        "func.func public @main(%a: tensor<4f32>)",
        "func.func public @main(%a: tensor<4xf32> {)",
        "func.func public @main(%a: tensor<4xf32> {a = [1)",
        "func.func public @main(%a: tensor<4xf32> {sdy.sharding = 3})",
        "func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>})",
        "func.func public @main(%a: tensor<4xf32> loc(\"a\"",
        "func.func public @main() -> (tensor<4xf32>",
        "func.func public",
        "func.func public @main(%a: tensor<4xf32>",
        "sdy.mesh mesh = <[]>",
        "sdy.mesh @mesh = <[\"x\"=y]>",
        "mhlo.num_partitions = many",
    ];
    for text in unexpected {
        assert!(matches!(fails(text), SignatureError::Unexpected { .. }), "{text}: {:?}", fails(text));
    }
    let mesh = fails("sdy.mesh @m = <[\"x\"=2, \"x\"=2]>");
    assert!(matches!(mesh, SignatureError::Mesh { .. }), "{mesh}");
}

#[test]
fn everything_has_a_limit() {
    let deep = format!("func.func public @main(%a: tensor<4xf32> {{a = {}}})", "[".repeat(1000));
    assert!(matches!(fails(&deep), SignatureError::TooMany { what: "nested brackets", limit: 64, .. }));
    let dims = format!("func.func public @main(%a: tensor<{}f32>)", "1x".repeat(100));
    assert!(matches!(fails(&dims), SignatureError::TooMany { what: "dims", limit: 64, .. }));
    let axes: Vec<String> = (0..20).map(|axis| format!("\"a{axis}\"=1")).collect();
    let mesh = format!("sdy.mesh @m = <[{}]>", axes.join(", "));
    assert!(matches!(fails(&mesh), SignatureError::TooMany { limit: 8, .. }));
    let many = format!("func.func public @main({})", "%a: tensor<f32>, ".repeat(70_000));
    assert!(matches!(fails(&many), SignatureError::TooMany { what: "arguments", limit: 65_536, .. }));
}

#[test]
fn no_text_makes_the_parser_panic() {
    // Every prefix of a real program, and every program with one character replaced by a nasty one.
    let text = include_str!("../../tests/fixtures/collectives_8.mlir");
    let header = text.find("sdy.return").unwrap();
    for end in 0..header {
        drop(Program::from_text(&text[..end]));
    }
    for at in 0..header {
        for nasty in ['"', '<', '}', '\\', 'é', '\0', '9'] {
            let mut changed = text[..header].to_owned();
            changed.replace_range(at..=at, nasty.encode_utf8(&mut [0; 4]));
            drop(Program::from_text(changed));
        }
    }
}

#[test]
fn tokens() {
    let mut lexer =
        Lexer::new("func.func @main(%a: tensor<2xf32>) -> @\"b c\" \"q\\\"é\" #loc -1 // end\n!t \"open");
    let mut tokens = Vec::new();
    loop {
        match lexer.next() {
            Token::End => break,
            token => tokens.push(token),
        }
    }
    use Token::{Arrow, Punct, Sigil, Symbol, Text, Word};
    let expected = [
        Word("func.func"),
        Symbol("main"),
        Punct('('),
        Sigil("%a"),
        Punct(':'),
        Word("tensor"),
        Punct('<'),
        Word("2xf32"),
        Punct('>'),
        Punct(')'),
        Arrow,
        Symbol("b c"),
        Text("q\\\"é"),
        Sigil("#loc"),
        Word("-1"),
        Sigil("!t"),
        Text("open"),
    ];
    assert_eq!(tokens, expected);
}

#[test]
fn digests_tell_programs_apart() {
    let program = |text: &str| Program::from_text(text).unwrap();
    let one = program("func.func @main() { return }");
    assert_eq!(one.digest(), program("func.func @main() { return }").digest());
    assert_ne!(one.digest(), program("func.func @main() { return  }").digest());
    assert_ne!(one.digest(), one.with_partitioner(Partitioner::Shardy).digest());
    assert_eq!(one.digest().to_string().len(), 8);
}
