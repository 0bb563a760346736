//! The wire format of Protocol Buffers: the fields of one message, in order.

use super::NotOnnx;

/// One field of a message.
pub(crate) struct WireField<'a> {
    pub(crate) number: u64,
    pub(crate) payload: Payload<'a>,
}

/// What a field holds.
pub(crate) enum Payload<'a> {
    Integer(u64),
    /// A message, a text or bytes.
    Bytes(&'a [u8]),
    /// Four or eight bytes that this reader has no use for.
    Fixed,
}

/// The fields of `message`; after an error, nothing more.
pub(crate) fn fields(message: &[u8]) -> impl Iterator<Item = Result<WireField<'_>, NotOnnx>> {
    let mut rest = message;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some((field, after)) = field(rest) else {
            rest = &[];
            return Some(Err(NotOnnx));
        };
        rest = after;
        Some(Ok(field))
    })
}

fn field(message: &[u8]) -> Option<(WireField<'_>, &[u8])> {
    let (key, rest) = integer(message)?;
    let (payload, rest) = match key & 7 {
        0 => integer(rest).map(|(value, rest)| (Payload::Integer(value), rest))?,
        1 => (Payload::Fixed, rest.get(8..)?),
        2 => {
            let (length, rest) = integer(rest)?;
            let (bytes, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            (Payload::Bytes(bytes), rest)
        }
        5 => (Payload::Fixed, rest.get(4..)?),
        _ => return None,
    };
    (key >> 3 != 0).then_some((WireField { number: key >> 3, payload }, rest))
}

/// A number of 7 bits a byte, least first, and what follows it.
pub(crate) fn integer(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}
