//! NumPy archives: an uncompressed zip file of arrays in the NumPy format.

use super::Matrices;
use fourbar_io::Entry;

/// An array of doubles by rows.
fn array(rows: &[Vec<f64>], columns: usize) -> Vec<u8> {
    let mut head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {columns}), }}", rows.len());
    // Magic, version and length take ten bytes; the length of the whole header is a multiple of 64, and it ends with a new line.
    while !(head.len() + 11).is_multiple_of(64) {
        head.push(' ');
    }
    head.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((head.len() as u16).to_le_bytes());
    out.extend(head.as_bytes());
    out.extend(rows.iter().flatten().flat_map(|x| x.to_le_bytes()));
    out
}

/// The archive of all matrices, entries `A` to `D`.
pub fn archive(matrices: &Matrices) -> Vec<u8> {
    let entries: Vec<Entry> =
        matrices.iter().map(|(name, rows, columns)| Entry::stored(format!("{name}.npy"), array(rows, *columns))).collect();
    fourbar_io::archive(&entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_arrays_are_aligned() {
        let a = array(&[vec![1.0, 2.0], vec![3.0, 4.0]], 2);
        assert_eq!(a.len(), 128 + 32);
        assert_eq!(a[127], b'\n');
        assert_eq!(a[128..136], 1.0f64.to_le_bytes());
    }
}
