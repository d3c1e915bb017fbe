//! Zip archives; the same entries always give the same bytes.

/// Date of all entries, 1 January 1980.
const DATE: [u8; 4] = [0, 0, 0x21, 0];
/// Smaller entries are stored uncompressed.
const SMALL: usize = 128;
/// Level of compression: higher levels hardly reduce the size.
const LEVEL: u8 = 6;

/// A file in an archive.
#[derive(Clone, Debug)]
pub struct Entry {
    name: String,
    data: Vec<u8>,
    packed: bool,
}

impl Entry {
    /// A file that is compressed if that makes it smaller.
    pub fn new(name: impl Into<String>, data: Vec<u8>) -> Self {
        Self { name: name.into(), data, packed: true }
    }

    /// A file that is stored unchanged.
    pub fn stored(name: impl Into<String>, data: Vec<u8>) -> Self {
        Self { name: name.into(), data, packed: false }
    }
}

/// Checksum of zip files.
fn crc32(bytes: &[u8]) -> u32 {
    let table: [u32; 256] =
        std::array::from_fn(|k| (0..8).fold(k as u32, |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }));
    !bytes.iter().fold(u32::MAX, |crc, b| (crc >> 8) ^ table[((crc ^ u32::from(*b)) & 255) as usize])
}

/// The archive of some files, less than 4 GB in all; names with slashes are in folders.
pub fn archive(entries: &[Entry]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for e in entries {
        let packed = (e.packed && e.data.len() >= SMALL).then(|| miniz_oxide::deflate::compress_to_vec(&e.data, LEVEL));
        let packed = packed.filter(|p| p.len() < e.data.len());
        let (method, data) = packed.as_ref().map_or((0, &e.data), |p| (8, p));
        // Version, flags (names in UTF-8), method.
        let mut common = vec![20, 0, 0, 8, method, 0];
        common.extend(DATE);
        common.extend(crc32(&e.data).to_le_bytes());
        common.extend((data.len() as u32).to_le_bytes());
        common.extend((e.data.len() as u32).to_le_bytes());
        common.extend((e.name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        let offset = (out.len() as u32).to_le_bytes();
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(e.name.as_bytes());
        out.extend(data);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        // Comment, disk, attributes.
        directory.extend([0; 10]);
        directory.extend(offset);
        directory.extend(e.name.as_bytes());
    }
    let count = (entries.len() as u16).to_le_bytes();
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
    fn what_is_packed_comes_out_again() {
        let text: Vec<u8> = (0..5000u32).flat_map(|k| (k / 7).to_le_bytes()).collect();
        let zip = archive(&[Entry::new("a/b.bin", text.clone()), Entry::stored("c", b"plain".to_vec())]);
        assert!(zip.len() < text.len());
        let size = u32::from_le_bytes([zip[18], zip[19], zip[20], zip[21]]) as usize;
        let from = 30 + "a/b.bin".len();
        assert_eq!(&zip[30..from], b"a/b.bin");
        let back = miniz_oxide::inflate::decompress_to_vec(&zip[from..from + size]).expect("deflate");
        assert_eq!(back, text);
        assert!(zip.windows(5).any(|w| w == b"plain"));
    }
}
