//! Variable-length integers: seven bits a byte, low bits first, the high bit set on all but the
//! last byte. Reading never panics: bytes that end early or hold more than 32 bits give `None`.

/// Appends `value` to `out`.
pub(super) fn put(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads the value at `*at` and moves `*at` behind it.
#[inline]
pub(super) fn get(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let first = *bytes.get(*at)?;
    *at += 1;
    if first < 0x80 { Some(u32::from(first)) } else { get_rest(bytes, at, first) }
}

fn get_rest(bytes: &[u8], at: &mut usize, first: u8) -> Option<u32> {
    let mut value = u64::from(first & 0x7f);
    for shift in [7, 14, 21, 28] {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(value).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_reads_back_and_cut_bytes_read_as_none() {
        for value in [0, 1, 127, 128, 300, 16_383, 16_384, 1 << 21, 1 << 28, u32::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            let mut at = 0;
            assert_eq!(get(&bytes, &mut at), Some(value));
            assert_eq!(at, bytes.len());
            for end in 0..bytes.len() {
                assert_eq!(get(&bytes[..end], &mut 0), None, "{value} cut to {end} bytes");
            }
        }
        assert_eq!(get(&[0xff; 8], &mut 0), None);
        assert_eq!(get(&[0xff, 0xff, 0xff, 0xff, 0x7f], &mut 0), None);
    }
}
