//! NumPy archives: a zip file without compression of arrays in NumPy's own format.

use super::Matrices;

/// Date of all entries, 1 January 1980, so that the same matrices give the same bytes.
const DATE: [u8; 4] = [0, 0, 0x21, 0];

/// Checksum of zip files.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &b in bytes {
        crc ^= u32::from(b);
        for _ in 0..8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    !crc
}

/// An array of doubles by rows.
fn array(rows: &[Vec<f64>], columns: usize) -> Vec<u8> {
    let mut head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {columns}), }}", rows.len());
    // Magic, version and length are ten bytes; all of the head is a multiple of 64 and ends with a new line.
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
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, rows, columns) in matrices {
        let (name, data) = (format!("{name}.npy"), array(rows, *columns));
        let size = (data.len() as u32).to_le_bytes();
        let mut common = vec![20, 0, 0, 0, 0, 0];
        common.extend(DATE);
        common.extend(crc32(&data).to_le_bytes());
        common.extend(size);
        common.extend(size);
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        let offset = (out.len() as u32).to_le_bytes();
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(&data);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        // Comment, disk, attributes.
        directory.extend([0; 10]);
        directory.extend(offset);
        directory.extend(name.as_bytes());
    }
    let count = (matrices.len() as u16).to_le_bytes();
    let (start, length) = ((out.len() as u32).to_le_bytes(), (directory.len() as u32).to_le_bytes());
    out.extend(&directory);
    out.extend(b"PK\x05\x06\x00\x00\x00\x00");
    out.extend(count);
    out.extend(count);
    out.extend(length);
    out.extend(start);
    out.extend([0, 0]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zip_files() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn heads_of_arrays_are_aligned() {
        let a = array(&[vec![1.0, 2.0], vec![3.0, 4.0]], 2);
        assert_eq!(a.len(), 128 + 32);
        assert_eq!(a[127], b'\n');
        assert_eq!(a[128..136], 1.0f64.to_le_bytes());
    }
}
