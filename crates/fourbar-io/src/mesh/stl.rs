//! STL: 50 bytes per triangle, or text with `vertex x y z` lines.

use super::{Corners, Flaw, MAX_TRIANGLES, Mesh};

const HEAD: usize = 84;
const TRIANGLE: usize = 50;

pub(super) fn parse(data: &[u8]) -> Result<Mesh, Flaw> {
    // Some binary files begin with `solid` as well: the length decides.
    if let Some(count) = data.get(80..HEAD).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes) {
        let count = count as usize;
        if count.checked_mul(TRIANGLE).is_some_and(|n| n + HEAD == data.len()) {
            return binary(&data[HEAD..], count);
        }
        if !data.starts_with(b"solid") {
            return Err(Flaw::broken(format!(
                "{count} triangles need {} bytes, the file has {}",
                HEAD as u64 + TRIANGLE as u64 * count as u64,
                data.len()
            )));
        }
    }
    text(data)
}

fn binary(data: &[u8], count: usize) -> Result<Mesh, Flaw> {
    if count > MAX_TRIANGLES {
        return Err(Flaw::too_many());
    }
    let mut corners = Corners::default();
    for t in data.chunks_exact(TRIANGLE) {
        // The normal is first, two bytes of attributes are last.
        let x = |k: usize| f64::from(f32::from_le_bytes([t[12 + 4 * k], t[13 + 4 * k], t[14 + 4 * k], t[15 + 4 * k]]));
        corners.triangle([[x(0), x(1), x(2)], [x(3), x(4), x(5)], [x(6), x(7), x(8)]])?;
    }
    Ok(corners.mesh)
}

fn text(data: &[u8]) -> Result<Mesh, Flaw> {
    let text = std::str::from_utf8(data).map_err(|_| Flaw::broken("it is neither a binary STL nor text"))?;
    if !text.trim_start().starts_with("solid") {
        return Err(Flaw::broken("it does not begin with `solid`"));
    }
    let mut corners = Corners::default();
    let mut open: Vec<[f64; 3]> = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("vertex") => {
                let mut p = [0.0; 3];
                for x in &mut p {
                    *x = words
                        .next()
                        .and_then(|w| w.parse().ok())
                        .ok_or_else(|| Flaw::broken(format!("line {}: a vertex needs three numbers", k + 1)))?;
                }
                open.push(p);
                if open.len() > 3 {
                    return Err(Flaw::broken(format!("line {}: a facet has more than three vertices", k + 1)));
                }
            }
            Some("endfacet") => {
                let triangle = open
                    .as_slice()
                    .try_into()
                    .map_err(|_| Flaw::broken(format!("line {}: a facet does not have three vertices", k + 1)))?;
                corners.triangle(triangle)?;
                open.clear();
            }
            _ => {}
        }
    }
    if open.is_empty() { Ok(corners.mesh) } else { Err(Flaw::broken("its last facet has no end")) }
}
