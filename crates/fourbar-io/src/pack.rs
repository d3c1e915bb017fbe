//! Packed arrays of the page: base64 over little-endian numbers, as `viewer/DATA.md` describes them.

use serde_json::{Value, json};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Largest 16-bit value; -32768 means "no number".
const TOP: f64 = 32767.0;
/// Shorter arrays are written as plain numbers.
const SHORT: usize = 6;

/// Standard base64 with padding.
pub fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |k: usize| u32::from(three.get(k).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for k in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * k) & 63) as usize];
            out.push(if k <= three.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// Bytes of standard base64, padding optional; `None` if it is something else.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    if text.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    for four in text.chunks(4) {
        let mut bits = 0;
        for k in 0..4 {
            let letter = four.get(k).copied().unwrap_or(b'A');
            bits = bits << 6 | ALPHABET.iter().position(|&a| a == letter)? as u32;
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    Some(out)
}

/// A short list as plain numbers; infinities have no form in JSON.
fn plain(values: &[f64]) -> Option<Value> {
    (values.len() < SHORT && values.iter().all(|x| x.is_finite())).then(|| json!(values))
}

/// Numbers in double precision.
pub fn f64s(values: &[f64]) -> Value {
    plain(values).unwrap_or_else(|| json!({"enc": "f64", "data": base64(&values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())}))
}

/// Numbers in single precision.
pub fn f32s(values: &[f64]) -> Value {
    plain(values).unwrap_or_else(
        || json!({"enc": "f32", "data": base64(&values.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect::<Vec<_>>())}),
    )
}

/// Indices.
pub fn u32s(values: &[u32]) -> Value {
    json!({"enc": "u32", "data": base64(&values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())})
}

/// One value repeated.
pub fn constant(value: f64, count: usize) -> Value {
    json!({"enc": "linear", "start": value, "step": 0.0, "count": count})
}

/// Times: start and step if these reproduce all times bit for bit, so that a page shows and saves the exact times of the trajectory.
pub fn times(t: &[f64]) -> Value {
    if let [first, .., last] = t {
        let step = (last - first) / (t.len() - 1) as f64;
        if step > 0.0 && t.iter().enumerate().all(|(k, t)| *t == first + k as f64 * step) {
            return json!({"enc": "linear", "start": first, "step": step, "count": t.len()});
        }
    }
    f64s(t)
}

/// Offset and scale that map the finite values to 16 bits.
fn spread(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (lo, hi) = values.filter(|x| x.is_finite()).fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)));
    if lo > hi {
        return (0.0, 1.0);
    }
    let range = hi - lo;
    // A difference of very large numbers may overflow.
    if range > 0.0 && range.is_finite() { (lo + 0.5 * range, range / (2.0 * TOP)) } else { (lo, 1.0) }
}

fn quantised(x: f64, offset: f64, scale: f64) -> [u8; 2] {
    let q = if x.is_finite() { ((x - offset) / scale).round().clamp(-TOP, TOP) as i16 } else { i16::MIN };
    q.to_le_bytes()
}

/// Numbers in 16 bits each.
pub fn i16s(values: &[f64]) -> Value {
    let (offset, scale) = spread(values.iter().copied());
    let data: Vec<u8> = values.iter().flat_map(|&x| quantised(x, offset, scale)).collect();
    json!({"enc": "i16", "scale": scale, "offset": offset, "data": base64(&data)})
}

/// Several components, interleaved, each with its own scale.
pub fn i16_interleaved<const N: usize>(rows: &[[f64; N]]) -> Value {
    let spreads: Vec<(f64, f64)> = (0..N).map(|c| spread(rows.iter().map(|r| r[c]))).collect();
    let data: Vec<u8> = rows.iter().flat_map(|r| r.iter().zip(&spreads).flat_map(|(&x, &(o, s))| quantised(x, o, s))).collect();
    let (offsets, scales): (Vec<f64>, Vec<f64>) = spreads.into_iter().unzip();
    json!({"enc": "i16", "scale": scales, "offset": offsets, "data": base64(&data)})
}

/// Unit quaternions.
pub fn quaternions(rows: &[[f64; 4]]) -> Value {
    let data: Vec<u8> = rows.iter().flatten().flat_map(|&x| quantised(x, 0.0, 1.0 / TOP)).collect();
    json!({"enc": "i16", "scale": 1.0 / TOP, "data": base64(&data)})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_has_its_published_examples() {
        // RFC 4648, section 10.
        for (text, code) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), code);
            assert_eq!(from_base64(code).as_deref(), Some(text.as_bytes()));
        }
        assert_eq!(from_base64("Z"), None);
        assert_eq!(from_base64("Zm9v*A=="), None);
    }

    #[test]
    fn sixteen_bits_keep_a_column_within_its_range() {
        let values: Vec<f64> = (0..1000).map(|k| 3.0 + 2.0 * (0.01 * f64::from(k)).sin()).chain([f64::NAN]).collect();
        let packed = i16s(&values);
        let (scale, offset) = (packed["scale"].as_f64().unwrap(), packed["offset"].as_f64().unwrap());
        let bytes = from_base64(packed["data"].as_str().unwrap()).unwrap();
        let q: Vec<i16> = bytes.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect();
        assert_eq!(q[1000], i16::MIN);
        for (q, x) in q.iter().zip(&values[..1000]) {
            // Half a step of rounding, and the rounding of the last bit.
            assert!((offset + scale * f64::from(*q) - x).abs() <= 0.5001 * scale);
        }
        assert!(scale < 4.0 / 65000.0);
    }

    #[test]
    fn even_times_are_a_formula_and_others_are_kept() {
        let even: Vec<f64> = (0..=1000).map(|k| f64::from(k) * 0.01).collect();
        assert_eq!(times(&even)["enc"], "linear");
        let mut odd = even.clone();
        odd[999] = 9.9951;
        assert_eq!(times(&odd)["enc"], "f64");
        assert_eq!(times(&[0.5]), json!([0.5]));
    }
}
