//! Declarations become hosts with seats, and labels become reports again.

use mobula_core::{HostState, NodeId, Runtime};

use super::*;

fn info(spec: HostSpec) -> HostInfo {
    let node: NodeId = "n0000000000000001".parse().unwrap();
    HostInfo { spec, node, pid: 7, state: HostState::Alive }
}

#[test]
fn labels_survive_the_way_there_and_back() {
    let hosts = VirtualSlice::new("TPU-V6E", "4x4").named("a").without_worker(1).hosts(0).unwrap();
    let names: Vec<_> = hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["a-host-0", "a-host-2", "a-host-3"]);
    let member = report(&info(hosts[1].clone())).unwrap().membership.unwrap();
    assert_eq!((member.slice.as_str(), member.worker), ("a", 2));
    assert_eq!(member.spec, SliceSpec::parse("v6e", "4x4").unwrap());
    // Worker 2 is the host at (0, 1): chips (0,2) to (1,3), x fastest.
    let chips: Vec<_> = member.chips.iter().map(|chip| (chip.x, chip.y)).collect();
    assert_eq!(chips, [(0, 2), (1, 2), (0, 3), (1, 3)]);
}

#[test]
fn a_choice_of_chips_per_host_is_kept() {
    let hosts = VirtualSlice::new("v6e", "2x4").chips_per_host(4).hosts(3).unwrap();
    assert_eq!(hosts.len(), 2);
    assert_eq!(hosts[0].name, "slice-3-host-0");
    let member = report(&info(hosts[1].clone())).unwrap().membership.unwrap();
    assert_eq!(member.spec.chips_per_host(), 4);
}

#[test]
fn wrong_declarations_are_errors_of_the_start() {
    for (slice, says) in [
        (VirtualSlice::new("v9", "4x4"), "v9"),
        (VirtualSlice::new("v6e", "4x"), "4x"),
        (VirtualSlice::new("v6e", "4x4x4"), "4x4x4"),
        (VirtualSlice::new("v6e", &*"9".repeat(10_000)), "9999"),
        (VirtualSlice::new("v6e", "4x4").without_worker(4), "worker 4"),
        (VirtualSlice::new("v6e", "4x4").named(""), "empty"),
    ] {
        let error = slice.hosts(0).unwrap_err().to_string();
        assert!(error.contains(says) && error.len() < 400, "{error}");
    }
    let builder = Runtime::builder().virtual_slice("v6e", "0x4").virtual_slice("v6e", "2x2");
    let error =
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(builder.start()).unwrap_err();
    assert!(error.to_string().contains("0x4"), "{error}");
}

#[test]
fn contradicting_labels_are_refused() {
    let host = VirtualSlice::new("v6e", "4x4").hosts(0).unwrap().remove(0);
    for (label, value) in
        [(LABEL_WORKER, "-1"), (LABEL_CHIPS, "3"), (LABEL_TOPOLOGY, "4x4x4"), (LABEL_GENERATION, "x")]
    {
        assert!(report(&info(host.clone().label(label, value))).is_err(), "{label} {value}");
    }
    assert_eq!(report(&info(HostSpec::new("plain"))).unwrap().membership, None);
}
