//! XLA's notation against JAX's named shardings.

use super::*;

/// By JAX: `axes|dims|shape|OpSharding in hexadecimal|text|slice of each device`.
const CASES: &str = include_str!("../../../tests/fixtures/slices.txt");

struct Case {
    mesh: MeshShape,
    sharding: Sharding,
    shape: Vec<usize>,
    proto: Vec<u8>,
    text: String,
    slices: Vec<crate::sharding::Slice>,
}

fn cases() -> Vec<Case> {
    let numbers = |text: &str| text.split(',').map(|number| number.parse().unwrap()).collect::<Vec<usize>>();
    let case = |line: &str| {
        let fields: Vec<&str> = line.split('|').collect();
        let axes = fields[0].split(',').map(|axis| axis.split_once('=').unwrap());
        let dims = fields[1].split(';').map(|dim| dim.split('+').filter(|axis| !axis.is_empty()));
        let slice = |text: &str| {
            let range = |range: &str| {
                let (start, end) = range.split_once(':').unwrap();
                start.parse().unwrap()..end.parse().unwrap()
            };
            text.split(',').map(range).collect()
        };
        let hex = fields[3];
        Case {
            mesh: MeshShape::new(axes.map(|(name, extent)| (name, extent.parse().unwrap()))).unwrap(),
            sharding: Sharding::over(dims),
            shape: numbers(fields[2]),
            proto: (0..hex.len() / 2)
                .map(|at| u8::from_str_radix(&hex[2 * at..][..2], 16).unwrap())
                .collect(),
            text: fields[4].to_owned(),
            slices: fields[5].split(' ').map(slice).collect(),
        }
    };
    let cases: Vec<Case> = CASES.lines().map(case).collect();
    assert_eq!(cases.len(), 8);
    cases
}

#[test]
fn slices_are_those_of_jax() {
    for case in cases() {
        assert_eq!(case.sharding.slices(&case.mesh, &case.shape).unwrap(), case.slices, "{}", case.text);
    }
}

#[test]
fn text_and_message_mean_the_named_sharding() {
    for case in cases() {
        let rank = case.shape.len();
        let text = Tiles::from_text(&case.text).unwrap();
        let proto = Tiles::from_proto(&case.proto).unwrap();
        assert_eq!(text.to_sharding(&case.mesh, rank).unwrap(), case.sharding, "{}", case.text);
        assert_eq!(proto.to_sharding(&case.mesh, rank).unwrap(), case.sharding, "{}", case.text);
    }
}

#[test]
fn listed_devices_are_understood() {
    let mesh = MeshShape::new([("x", 2), ("y", 2)]).unwrap();
    let of = |text: &str, rank| Tiles::from_text(text).unwrap().to_sharding(&mesh, rank);
    assert_eq!(of("{devices=[2,2]0,1,2,3}", 2), Ok(Sharding::over([["x"], ["y"]])));
    assert_eq!(of("{devices=[2,2]0,2,1,3}", 2), Ok(Sharding::over([["y"], ["x"]])));
    assert_eq!(of("{devices=[4]0,1,2,3}", 1), Ok(Sharding::over([["x", "y"]])));
    assert_eq!(of("{devices=[2,2]0,1,2,3 last_tile_dim_replicate}", 1), Ok(Sharding::over([["x"]])));
    assert_eq!(of("{devices=[1,1,4]0,1,2,3 last_tile_dims={replicated}}", 2), Ok(Sharding::replicated()));
    // An order of devices that no choice of axes gives.
    assert!(matches!(of("{devices=[4]3,2,1,0}", 1), Err(TilesError::NoAxes { .. })));
    assert!(matches!(of("{devices=[4]0,1,3,2}", 1), Err(TilesError::NoAxes { .. })));
    assert!(matches!(of("{devices=[2]0,1}", 1), Err(TilesError::DeviceCount { got: 2, .. })));
    assert!(matches!(of("{devices=[2,2]0,1,2,3}", 1), Err(TilesError::NoAxes { .. })));
}

#[test]
fn what_is_not_understood_is_said() {
    let unsupported = [
        "{manual}",
        "{maximal device=3}",
        "{unknown}",
        "{{replicated}, {replicated}}",
        "{devices=[2,2]<=[4] last_tile_dims={manual}}",
        "{devices=[2]<=[2] metadata={op_name=\"x\"}}",
    ];
    for text in unsupported {
        assert!(matches!(Tiles::from_text(text), Err(TilesError::Unsupported { .. })), "{text}");
    }
    let malformed = [
        "",
        "replicated",
        "{devices=}",
        "{devices=[]}",
        "{devices=[2,2]}",
        "{devices=[2]<=[4]}",
        "{devices=[2]0,0}",
        "{devices=[2]0,2}",
        "{devices=[2]<=[2]T(1)}",
        "{devices=[2]<=[2]T(0}",
        "{devices=[99999999999999999999]<=[2]}",
        "{devices=[4294967296,4294967296]<=[4294967296,4294967296]}",
    ];
    for text in malformed {
        assert!(matches!(Tiles::from_text(text), Err(TilesError::Malformed { .. })), "{text}");
    }
    assert!(matches!(Tiles::from_proto(&[0x08, 0x04]), Err(TilesError::Unsupported { .. })));
    assert!(matches!(Tiles::from_proto(&[0x08, 0x03]), Err(TilesError::Malformed { .. })));
    assert!(matches!(Tiles::from_proto(&[0x08]), Err(TilesError::Malformed { .. })));
    let long = format!("{{{}}}", "x".repeat(10_000));
    assert!(Tiles::from_text(&long).unwrap_err().to_string().chars().count() < 300);
}
