//! The wire format of protocol buffers: just enough to write compile options and to read shardings.
//!
//! Source: <https://protobuf.dev/programming-guides/encoding/>.

/// Appends a varint.
fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends field `number` with an integer.
pub(crate) fn put_integer(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number) << 3);
    put_varint(out, value);
}

/// Appends field `number` with bytes: a message, a string or a packed list.
pub(crate) fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(out, u64::from(number) << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends field `number` with a packed list of integers.
pub(crate) fn put_packed(out: &mut Vec<u8>, number: u32, values: impl IntoIterator<Item = u64>) {
    let mut packed = Vec::new();
    for value in values {
        put_varint(&mut packed, value);
    }
    put_bytes(out, number, &packed);
}

/// The bytes are no message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// One field of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    /// The field's number.
    pub(crate) number: u32,
    value: Value<'a>,
}

#[derive(Debug, PartialEq, Eq)]
enum Value<'a> {
    Integer(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    /// The integer, unless the field has bytes.
    pub(crate) fn integer(&self) -> Option<u64> {
        match self.value {
            Value::Integer(value) => Some(value),
            Value::Bytes(_) => None,
        }
    }

    /// The bytes of a message, string or list, unless the field has an integer.
    pub(crate) fn bytes(&self) -> Option<&'a [u8]> {
        match self.value {
            Value::Integer(_) => None,
            Value::Bytes(bytes) => Some(bytes),
        }
    }

    /// Appends the integer, or the integers of a packed list as far as it is well formed.
    pub(crate) fn append_integers(&self, list: &mut Vec<u64>) {
        match self.value {
            Value::Integer(value) => list.push(value),
            Value::Bytes(mut bytes) => {
                while let Some(value) = take_varint(&mut bytes) {
                    list.push(value);
                }
            }
        }
    }
}

/// The fields of a message, one by one; ends behind the first malformed one.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads `message`.
    pub(crate) fn new(message: &'a [u8]) -> Reader<'a> {
        Reader { rest: message }
    }

    fn field(&mut self) -> Result<Field<'a>, Malformed> {
        let key = take_varint(&mut self.rest).ok_or(Malformed)?;
        let number = u32::try_from(key >> 3).map_err(|_| Malformed)?;
        let value = match key & 7 {
            0 => Value::Integer(take_varint(&mut self.rest).ok_or(Malformed)?),
            1 => Value::Bytes(self.take(8)?),
            2 => {
                let size = take_varint(&mut self.rest).ok_or(Malformed)?;
                Value::Bytes(self.take(usize::try_from(size).map_err(|_| Malformed)?)?)
            }
            5 => Value::Bytes(self.take(4)?),
            _ => return Err(Malformed),
        };
        Ok(Field { number, value })
    }

    fn take(&mut self, size: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.rest.split_at_checked(size).ok_or(Malformed)?;
        self.rest = rest;
        Ok(bytes)
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Field<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// Takes a varint from the front.
fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification() {
        // Source: the encoding guide, "A Simple Message", "Length-Delimited Records", "Packed Fields".
        let mut out = Vec::new();
        put_integer(&mut out, 1, 150);
        assert_eq!(out, [0x08, 0x96, 0x01]);
        let mut out = Vec::new();
        put_bytes(&mut out, 2, b"testing");
        assert_eq!(out, [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        let mut out = Vec::new();
        put_packed(&mut out, 6, [3, 270, 86_942]);
        assert_eq!(out, [0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05]);
        let mut list = Vec::new();
        Reader::new(&out).next().unwrap().unwrap().append_integers(&mut list);
        assert_eq!(list, [3, 270, 86_942]);
    }

    #[test]
    fn malformed_messages_end() {
        for bytes in
            [&[0x08][..], &[0x12, 0x07, 0x74], &[0xff; 12], &[0x0b], &[0x12, 0xff, 0xff, 0xff, 0xff, 0x0f]]
        {
            let fields: Vec<_> = Reader::new(bytes).collect();
            assert_eq!(fields, [Err(Malformed)], "{bytes:?}");
        }
        assert_eq!(Reader::new(&[]).count(), 0);
    }
}
