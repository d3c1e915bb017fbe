//! Zip files without compression: NumPy archives and functional mock-up units are such files.

/// Date of all entries, 1 January 1980, so that the same files give the same bytes.
const DATE: [u8; 4] = [0, 0, 0x21, 0];

/// Checksum of zip files.
fn crc32(bytes: &[u8]) -> u32 {
    let table: Vec<u32> = (0..256u32).map(|k| (0..8).fold(k, |c, _| (c >> 1) ^ if c & 1 == 1 { 0xedb8_8320 } else { 0 })).collect();
    !bytes.iter().fold(u32::MAX, |c, b| (c >> 8) ^ table[((c ^ u32::from(*b)) & 0xff) as usize])
}

/// The archive of files by name; `None` where it would be larger than 4 GB.
pub fn zip(files: &[(String, Vec<u8>)]) -> Option<Vec<u8>> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in files {
        let size = u32::try_from(data.len()).ok()?.to_le_bytes();
        let mut common = vec![20, 0, 0, 0, 0, 0];
        common.extend(DATE);
        common.extend(crc32(data).to_le_bytes());
        common.extend(size);
        common.extend(size);
        common.extend(u16::try_from(name.len()).ok()?.to_le_bytes());
        common.extend([0, 0]);
        let offset = u32::try_from(out.len()).ok()?.to_le_bytes();
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(data);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        // Comment, disk, attributes.
        directory.extend([0; 10]);
        directory.extend(offset);
        directory.extend(name.as_bytes());
    }
    let count = u16::try_from(files.len()).ok()?.to_le_bytes();
    let (start, length) = (u32::try_from(out.len()).ok()?.to_le_bytes(), u32::try_from(directory.len()).ok()?.to_le_bytes());
    out.extend(&directory);
    out.extend(b"PK\x05\x06\x00\x00\x00\x00");
    out.extend(count);
    out.extend(count);
    out.extend(length);
    out.extend(start);
    out.extend([0, 0]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn the_checksum_is_that_of_zip_files() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
