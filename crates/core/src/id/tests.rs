//! Ids survive their text form; nothing else parses.

use super::*;

#[test]
fn node_id_text_round_trip() {
    for id in [0, 1, 0xdead_beef, u64::MAX] {
        let id = NodeId::new(id);
        assert_eq!(id.to_string().parse::<NodeId>(), Ok(id));
    }
}

#[test]
fn node_id_refuses_other_texts() {
    for text in
        ["", "n", "n1", "x0000000000000001", "n000000000000000g", "n+00000000000000f", "n00000000000000001"]
    {
        assert!(text.parse::<NodeId>().is_err(), "{text:?} parsed");
    }
}
