//! Compile options against XLA's own serializer, and what is read from messages and diagnostics.

use super::hlo::{Parameter, Shardings, parameters, shardings};
use super::options::Options;
use crate::dtype::DType;
use crate::program::Partitioner;
use crate::wire::{put_bytes, put_integer, put_packed};

/// By `jaxlib`: `devices|shardy|bytes in hexadecimal`.
const OPTIONS: &str = include_str!("../../tests/fixtures/options.txt");

#[test]
fn options_are_those_of_xla() {
    let mut count = 0;
    for line in OPTIONS.lines() {
        let fields: Vec<&str> = line.split('|').collect();
        let devices = fields[0].split(',').map(|device| device.parse().unwrap()).collect();
        let partitioner = if fields[1] == "1" { Partitioner::Shardy } else { Partitioner::Gspmd };
        let encoded = Options { devices, partitioner }.encode();
        let encoded: String = encoded.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(encoded, fields[2]);
        count += 1;
    }
    assert_eq!(count, 4);
}

#[test]
fn diagnostics_name_their_place() {
    use super::error::diagnosed_at;
    let place = |message| diagnosed_at(message).map(|at| (at.line, at.column));
    assert_eq!(
        place("-:3:7: error: custom op 'stablehlo.foo' is unknown\n<unknown>:0: error: x"),
        Some((3, 7))
    );
    assert_eq!(place("<unknown>:0: error: a\nfile.mlir:12:1: error: b"), Some((12, 1)));
    assert_eq!(place("-:0:0: error: bytecode version 51 is newer"), None);
    assert_eq!(place("no place: error: at all"), None);
    assert_eq!(place(""), None);
}

#[test]
fn parameters_are_read_from_a_module() {
    let mut shape = Vec::new();
    put_integer(&mut shape, 2, 11);
    put_packed(&mut shape, 3, [4, 16]);
    let mut scalar = Vec::new();
    put_integer(&mut scalar, 2, 1);
    let (mut program_shape, mut module, mut program) = (Vec::new(), Vec::new(), Vec::new());
    put_bytes(&mut program_shape, 1, &shape);
    put_bytes(&mut program_shape, 1, &scalar);
    put_bytes(&mut module, 1, b"jit_step");
    put_bytes(&mut module, 4, &program_shape);
    put_bytes(&mut program, 1, &module);
    let expected = [
        Parameter { dtype: Some(DType::F32), shape: vec![4, 16] },
        Parameter { dtype: Some(DType::Bool), shape: vec![] },
    ];
    assert_eq!(parameters(&program).unwrap(), expected);
    // Any cut of it is no module, and is not taken for one with other parameters.
    for end in 0..program.len() {
        assert_eq!(parameters(&program[..end]), None, "cut at {end}");
    }
}

#[test]
fn shardings_are_read_from_a_module() {
    let replicated = vec![];
    let split = vec![0x08, 0x03, 0x1a, 0x01, 0x04];
    let (mut tuple, mut module, mut program) = (Vec::new(), Vec::new(), Vec::new());
    put_integer(&mut tuple, 1, 2);
    put_bytes(&mut tuple, 5, &split);
    put_bytes(&mut tuple, 5, &replicated);
    put_bytes(&mut module, 12, &tuple);
    put_bytes(&mut module, 14, &split);
    put_bytes(&mut program, 1, &module);
    let expected = Shardings { parameters: vec![split.clone()], outputs: vec![split.clone(), replicated] };
    assert_eq!(shardings(&program), Some(expected));
    // One output is no tuple; a program for one device has none of this.
    let (mut module, mut program) = (Vec::new(), Vec::new());
    put_bytes(&mut module, 12, &split);
    put_bytes(&mut program, 1, &module);
    assert_eq!(shardings(&program), Some(Shardings { parameters: vec![], outputs: vec![split] }));
    assert_eq!(shardings(&[0x0a, 0x00]), Some(Shardings { parameters: vec![], outputs: vec![] }));
    assert_eq!(shardings(&[]), None);
}
