//! MATLAB files of level 4, readable by MATLAB, Octave and SciPy: every matrix with its name and its numbers by columns.

use super::Matrices;

/// The file of all matrices, variables `A` to `D`.
pub fn file(matrices: &Matrices) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, rows, columns) in matrices {
        // Type 0: full matrix of doubles, little-endian; then rows, columns, no imaginary part, length of the name with its terminator.
        let head = [0, rows.len() as u32, *columns as u32, 0, name.len() as u32 + 1];
        out.extend(head.iter().flat_map(|x| x.to_le_bytes()));
        out.extend(name.as_bytes());
        out.push(0);
        out.extend((0..*columns).flat_map(|c| rows.iter().map(move |r| r[c])).flat_map(f64::to_le_bytes));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_by_columns_behind_their_head() {
        let m: Matrices =
            [("A", vec![vec![1.0, 2.0], vec![3.0, 4.0]], 2), ("B", vec![], 1), ("C", vec![vec![5.0]], 1), ("D", vec![vec![]], 0)];
        let bytes = file(&m);
        let word = |k: usize| u32::from_le_bytes([bytes[k], bytes[k + 1], bytes[k + 2], bytes[k + 3]]);
        assert_eq!([word(0), word(4), word(8), word(12), word(16)], [0, 2, 2, 0, 2]);
        assert_eq!(&bytes[20..22], b"A\0");
        let number = |k: usize| f64::from_le_bytes(std::array::from_fn(|i| bytes[k + i]));
        assert_eq!([22, 30, 38, 46].map(number), [1.0, 3.0, 2.0, 4.0]);
        assert_eq!(bytes.len(), (22 + 32) + 22 + (22 + 8) + 22);
    }
}
