//! Names, shapes and pod types: what is read, what is refused, and what the refusal says.

use super::super::{
    Generation, ParseGenerationError, ParsePodTypeError, ParseTopologyError, PodType, SliceSpec, SpecError,
    Topology,
};
use super::{cases, shape, spec};

#[test]
fn every_shape_of_the_cases_has_its_numbers() {
    for case in cases().shapes {
        let spec = spec(&case.generation, &case.topology);
        let name = format!("{} {}", case.generation, case.topology);
        assert_eq!(spec.chips(), case.chips, "{name}");
        assert_eq!(spec.hosts(), case.hosts, "{name}");
        assert_eq!(spec.chips_per_host(), case.chips_per_host, "{name}");
        assert_eq!(spec.pod_type().to_string(), case.pod_type, "{name}");
        assert!(spec.pod_type().topologies().contains(&spec.topology()), "{name}");
    }
}

#[test]
fn every_pod_type_of_the_cases_has_its_chips() {
    for case in cases().pod_types {
        let pod_type: PodType = case.pod_type.parse().expect("a pod type");
        assert_eq!(pod_type.chips(), case.chips, "{}", case.pod_type);
        assert_eq!(pod_type.to_string(), case.pod_type);
    }
}

#[test]
fn every_invalid_pair_of_the_cases_is_refused() {
    for case in cases().invalid {
        let refused = SliceSpec::parse(&case.generation, &case.topology);
        assert!(refused.is_err(), "{:?} {:?} was taken", case.generation, case.topology);
    }
}

#[test]
fn every_spelling_of_the_cases_is_read() {
    for (text, name) in cases().spellings {
        let generation: Generation = text.parse().expect("a generation");
        assert_eq!(generation.name(), name, "{text}");
    }
}

#[test]
fn labels_products_and_device_kinds_are_spellings_too() {
    let spellings = [
        ("Trillium", Generation::V6e),
        ("IRONWOOD", Generation::V7x),
        ("tpu7x-16", Generation::V7x),
        ("v5litepod-8", Generation::V5e),
        ("tpu-v4-podslice", Generation::V4),
        ("tpu-v5-lite-podslice", Generation::V5e),
        ("tpu-v5-lite-device", Generation::V5e),
        ("tpu-v5p-slice", Generation::V5p),
        ("tpu-v6e-slice", Generation::V6e),
        ("TPU v5 lite", Generation::V5e),
        ("TPU v6 lite", Generation::V6e),
        ("TPU7x", Generation::V7x),
        (" v2 ", Generation::V2),
    ];
    for (text, generation) in spellings {
        assert_eq!(text.parse(), Ok(generation), "{text}");
    }
}

#[test]
fn peer_a9_to_a15_accelerator_types_name_their_generation() {
    let types = [
        ("v2-8", "TPU-V2"),
        ("v2-32", "TPU-V2"),
        ("v3-8", "TPU-V3"),
        ("v3-128", "TPU-V3"),
        ("v4-8", "TPU-V4"),
        ("v4-2048", "TPU-V4"),
        ("v5p-8", "TPU-V5P"),
        ("v6e-8", "TPU-V6E"),
        ("tpu7x-16", "TPU-V7X"),
        // The peer writes TPU-V5LITEPOD; here one generation has one name, and reads both.
        ("v5litepod-8", "TPU-V5E"),
    ];
    for (text, accelerator_type) in types {
        let pod_type: PodType = text.parse().expect("a pod type");
        assert_eq!(pod_type.generation().accelerator_type(), accelerator_type);
        assert_eq!(accelerator_type.parse(), Ok(pod_type.generation()));
    }
}

#[test]
fn peer_a16_and_a28_what_is_no_accelerator_type_is_refused() {
    let refused =
        ["not-a-valid-version", "vNOTVALID-8", "230498230948230948", "", "v-8", "8", "tpu-8", "v2-", "A100"];
    for text in refused.into_iter().chain(["v2", "random-string", "invalid-8", "v6e"]) {
        let error = text.parse::<PodType>().expect_err(text);
        assert!(matches!(error, ParsePodTypeError::Format { .. }), "{text}: {error}");
    }
    for text in ["v4-0", "v4-7", "v4-99999999999999999999"] {
        let error = text.parse::<PodType>().expect_err(text);
        assert!(matches!(error, ParsePodTypeError::Count { .. }), "{text}: {error}");
    }
}

#[test]
fn peer_a28_total_and_visible_chips_by_pod_type() {
    let cases = [
        ("v6e-1", 1, 1),
        ("v6e-4", 4, 4),
        ("v6e-8", 8, 8),
        ("v6e-16", 16, 4),
        ("v6e-32", 32, 4),
        ("v5litepod-1", 1, 1),
        ("v5litepod-4", 4, 4),
        ("v5litepod-8", 8, 8),
        ("v5litepod-16", 16, 4),
        ("v4-8", 4, 4),
        ("v5p-8", 4, 4),
        ("v7x-16", 8, 4),
    ];
    for (text, chips, per_host) in cases {
        let pod_type: PodType = text.parse().expect("a pod type");
        assert_eq!(pod_type.chips(), chips, "{text}");
        for topology in pod_type.topologies() {
            let spec = SliceSpec::new(pod_type.generation(), topology).expect("listed");
            assert_eq!(spec.chips_per_host(), per_host, "{text} {topology}");
        }
    }
}

#[test]
fn peer_a29_dims_of_a_topology() {
    for (text, extents) in [("2x4", &[2, 4][..]), ("16x16", &[16, 16]), ("2x2x2", &[2, 2, 2])] {
        assert_eq!(shape(text).extents(), extents);
        assert_eq!(shape(text).to_string(), text);
    }
    assert_eq!(shape("4X8x16").extents(), [4, 8, 16]);
}

#[test]
fn shapes_with_the_same_number_of_chips_share_a_pod_type() {
    let flat: PodType = "v6e-16".parse().expect("a pod type");
    assert_eq!(flat.topologies(), [shape("2x8"), shape("4x4")]);
    let deep: PodType = "v4-256".parse().expect("a pod type");
    assert_eq!(deep.topologies(), [shape("4x4x8"), shape("4x8x4"), shape("8x4x4")]);
}

#[test]
fn huge_input_is_a_typed_error_that_stays_small() {
    let digits = "9".repeat(10_000);
    let error = format!("{digits}x4").parse::<Topology>().expect_err("too long");
    assert!(matches!(error, ParseTopologyError::TooLong { len: 10_002, len_max: 32, .. }));
    assert!(error.to_string().len() < 160, "{error}");
    let error = digits.parse::<Generation>().expect_err("too long");
    assert!(matches!(error, ParseGenerationError::TooLong { len: 10_000, .. }));
    assert!(digits.parse::<PodType>().is_err());
    let error = "99999999999999999999x4".parse::<Topology>().expect_err("too large");
    assert!(matches!(error, ParseTopologyError::Extent { max: 1024, .. }));
}

#[test]
fn a_bad_topology_says_what_is_wrong_with_it() {
    let message = |text: &str| text.parse::<Topology>().expect_err(text).to_string();
    assert_eq!(message("4x"), "read the topology \"4x\": expected a number of chips, got \"\"");
    assert_eq!(message("0x4"), "read the topology \"0x4\": an extent lies between 1 and 1024, got \"0\"");
    assert_eq!(
        message("4"),
        "read the topology \"4\": expected 2 or 3 axes like 4x4 or 2x2x4, got 1 or more"
    );
    assert!(matches!("2x2x2x2".parse::<Topology>(), Err(ParseTopologyError::Axes { got: 4, .. })));
    assert!(matches!("+4x4".parse::<Topology>(), Err(ParseTopologyError::NotANumber { .. })));
}

#[test]
fn a_shape_nobody_has_comes_back_with_the_nearest() {
    let nearest = |generation: &str, topology: &str| match SliceSpec::parse(generation, topology) {
        Err(SpecError::Shape { nearest, .. } | SpecError::Dims { nearest, .. }) => nearest,
        other => panic!("{other:?}"),
    };
    assert_eq!(nearest("v6e", "3x5")[0], shape("4x4"));
    assert_eq!(nearest("v6e", "4x2")[0], shape("2x4"));
    assert_eq!(nearest("v6e", "4x4x4")[0], shape("8x8"));
    assert_eq!(nearest("v4", "4x4")[0], shape("2x2x4"));
    assert_eq!(nearest("v4", "16x16x16")[0], shape("12x12x16"));
    let error = SliceSpec::parse("v6e", "4x4x4").expect_err("a cube");
    assert!(error.to_string().contains("its mesh has 2 axes, got 3; nearest: 8x8"), "{error}");
}

#[test]
fn a_pod_type_beside_a_topology_must_agree_with_it() {
    assert_eq!(SliceSpec::parse("v6e-16", "4x4"), Ok(spec("v6e", "4x4")));
    assert_eq!(SliceSpec::parse("v4-32", "2x2x4"), Ok(spec("v4", "2x2x4")));
    let error = SliceSpec::parse("v4-16", "2x2x4").expect_err("8 chips against 16");
    assert!(matches!(error, SpecError::PodType { expected: 8, got: 16, .. }), "{error}");
}

#[test]
fn what_travels_is_checked_where_it_arrives() {
    let spec = spec("v6e", "2x4").with_chips_per_host(4).expect("two hosts of four");
    let text = serde_json::to_string(&spec).expect("serializable");
    assert_eq!(serde_json::from_str::<SliceSpec>(&text).expect("its own text"), spec);
    let forged = text.replace("2x4", "2x5");
    assert!(serde_json::from_str::<SliceSpec>(&forged).is_err());
    assert!(serde_json::from_str::<Topology>("\"4x4 x\"").is_err());
    assert!(serde_json::from_str::<Generation>("\"h100\"").is_err());
}
