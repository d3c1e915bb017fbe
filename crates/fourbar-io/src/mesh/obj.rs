//! OBJ: `v x y z` lines and `f` lines of vertex numbers, counted from one or backwards; polygons become fans.

use super::{Flaw, MAX_TRIANGLES, MAX_VERTICES, Mesh};

pub(super) fn parse(data: &[u8]) -> Result<Mesh, Flaw> {
    let text = std::str::from_utf8(data).map_err(|_| Flaw::broken("it is not text"))?;
    let mut mesh = Mesh::default();
    for (k, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut p = [0.0; 3];
                for x in &mut p {
                    *x = words
                        .next()
                        .and_then(|w| w.parse().ok())
                        .ok_or_else(|| Flaw::broken(format!("line {}: a vertex needs three numbers", k + 1)))?;
                }
                if mesh.vertices.len() >= MAX_VERTICES {
                    return Err(Flaw::too_many_vertices());
                }
                mesh.vertices.push(p);
            }
            Some("f") => {
                let corners = words.map(|w| corner(w, mesh.vertices.len())).collect::<Option<Vec<u32>>>();
                let corners = corners
                    .filter(|c| c.len() >= 3)
                    .ok_or_else(|| Flaw::broken(format!("line {}: a face needs three or more vertices defined before it", k + 1)))?;
                if mesh.triangles.len() + corners.len() - 2 > MAX_TRIANGLES {
                    return Err(Flaw::too_many());
                }
                mesh.triangles.extend(corners[1..].windows(2).map(|w| [corners[0], w[0], w[1]]));
            }
            _ => {}
        }
    }
    Ok(mesh)
}

/// The vertex of `7`, `7/1`, `7//3`, `7/1/3` or `-1`.
fn corner(word: &str, count: usize) -> Option<u32> {
    let number: i64 = word.split('/').next()?.parse().ok()?;
    let k = if number < 0 { number.checked_add(count as i64)? } else { number - 1 };
    u32::try_from(k).ok().filter(|&k| (k as usize) < count)
}
