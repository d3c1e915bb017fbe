//! GIF: the most frequent colours, frames cropped to the changed region, compressed as the format requires.

use crate::disk::MARK;
use std::collections::HashMap;
use tiny_skia::{Pixmap, PremultipliedColorU8};

/// Largest number of codes of the compression.
const CODES: u16 = 4096;
/// Bits of a colour index.
const BITS: u8 = 8;

/// Colour in fifteen bits, so that similar colours become equal.
fn key(p: &PremultipliedColorU8) -> u16 {
    u16::from(p.red() >> 3) << 10 | u16::from(p.green() >> 3) << 5 | u16::from(p.blue() >> 3)
}

/// A table of colours, and the table index of each colour.
struct Palette {
    colours: Vec<[u8; 3]>,
    index: HashMap<u16, u8>,
}

impl Palette {
    fn of(pictures: &[Pixmap]) -> Self {
        let mut found: HashMap<u16, (u64, [u64; 3])> = HashMap::new();
        for p in pictures.iter().flat_map(Pixmap::pixels) {
            let entry = found.entry(key(p)).or_default();
            entry.0 += 1;
            for (sum, x) in entry.1.iter_mut().zip([p.red(), p.green(), p.blue()]) {
                *sum += u64::from(x);
            }
        }
        let mean = |(n, sum): &(u64, [u64; 3])| sum.map(|s| (s / n.max(&1)) as u8);
        let mut list: Vec<(u16, u64, [u8; 3])> = found.iter().map(|(k, e)| (*k, e.0, mean(e))).collect();
        // A unique order, so that the same pictures give the same table.
        list.sort_by_key(|(k, n, _)| (std::cmp::Reverse(*n), *k));
        let colours: Vec<[u8; 3]> = list.iter().take(256).map(|e| e.2).collect();
        let far = |a: &[u8; 3], b: &[u8; 3]| (0..3).map(|k| (i32::from(a[k]) - i32::from(b[k])).pow(2)).sum::<i32>();
        let nearest = |c: &[u8; 3]| (0..colours.len()).min_by_key(|k| far(&colours[*k], c)).unwrap_or(0) as u8;
        let index = list.iter().map(|(k, _, c)| (*k, nearest(c))).collect();
        Self { colours, index }
    }
}

/// Frames of one size with their delays in hundredths of a second.
pub(super) fn encode(pictures: &[Pixmap], delays: &[u16]) -> Vec<u8> {
    let Some(first) = pictures.first() else { return Vec::new() };
    let palette = Palette::of(pictures);
    let (width, height) = (first.width() as usize, first.height() as usize);
    let mut out = b"GIF89a".to_vec();
    out.extend((width as u16).to_le_bytes());
    out.extend((height as u16).to_le_bytes());
    // A table of 256 colours for all frames.
    out.extend([0xf7, 0, 0]);
    for k in 0..256 {
        out.extend(palette.colours.get(k).unwrap_or(&[0; 3]));
    }
    // Repeats endlessly; a comment names the program.
    out.extend(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0");
    out.extend([0x21, 0xfe, MARK.len() as u8]);
    out.extend(MARK.as_bytes());
    out.push(0);
    let mut before: Vec<u8> = Vec::new();
    for (picture, delay) in pictures.iter().zip(delays) {
        let pixels: Vec<u8> = picture.pixels().iter().map(|p| palette.index.get(&key(p)).copied().unwrap_or(0)).collect();
        let [x, y, w, h] = changed(&before, &pixels, width, height);
        out.extend([0x21, 0xf9, 4, 4]);
        out.extend(delay.to_le_bytes());
        out.extend([0, 0, 0x2c]);
        [x, y, w, h].iter().for_each(|v| out.extend((*v as u16).to_le_bytes()));
        out.extend([0, BITS]);
        let part: Vec<u8> = (y..y + h).flat_map(|row| pixels[row * width + x..row * width + x + w].iter().copied()).collect();
        for block in packed(&part).chunks(255) {
            out.push(block.len() as u8);
            out.extend(block);
        }
        out.push(0);
        before = pixels;
    }
    out.push(0x3b);
    out
}

/// The rectangle in which two pictures differ: x, y, width, height; one pixel if they are equal.
fn changed(before: &[u8], now: &[u8], width: usize, height: usize) -> [usize; 4] {
    if before.len() != now.len() {
        return [0, 0, width, height];
    }
    let (mut low, mut high) = ([width, height], [0, 0]);
    for k in (0..now.len()).filter(|k| before[*k] != now[*k]) {
        for (axis, v) in [k % width, k / width].into_iter().enumerate() {
            low[axis] = low[axis].min(v);
            high[axis] = high[axis].max(v + 1);
        }
    }
    if high[0] == 0 { [0, 0, 1, 1] } else { [low[0], low[1], high[0] - low[0], high[1] - low[1]] }
}

/// Packs bits from the lowest.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    held: u32,
    count: u32,
}

impl Bits {
    fn put(&mut self, code: u16, width: u32) {
        self.held |= u32::from(code) << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }
}

/// LZW compression with codes of growing width.
fn packed(pixels: &[u8]) -> Vec<u8> {
    const CLEAR: u16 = 1 << BITS;
    let mut bits = Bits::default();
    let mut table: HashMap<(u16, u8), u16> = HashMap::new();
    let (mut next, mut width) = (CLEAR + 2, u32::from(BITS) + 1);
    bits.put(CLEAR, width);
    let mut rest = pixels.iter();
    let Some(mut prefix) = rest.next().map(|p| u16::from(*p)) else { return bits.bytes };
    for &p in rest {
        if let Some(&code) = table.get(&(prefix, p)) {
            prefix = code;
            continue;
        }
        bits.put(prefix, width);
        if next == CODES {
            bits.put(CLEAR, width);
            table.clear();
            (next, width) = (CLEAR + 2, u32::from(BITS) + 1);
        } else {
            table.insert((prefix, p), next);
            // The decoder is one code behind.
            if next == 1 << width {
                width += 1;
            }
            next += 1;
        }
        prefix = u16::from(p);
    }
    bits.put(prefix, width);
    // The code width of the decoder may have grown with the last code.
    if next == 1 << width && width < 12 {
        width += 1;
    }
    bits.put(CLEAR + 1, width);
    bits.put(0, 7);
    bits.bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decompresses like a decoder.
    fn unpacked(bytes: &[u8]) -> Vec<u8> {
        let (clear, end) = (256usize, 257usize);
        let (mut table, mut width, mut at): (Vec<Vec<u8>>, u32, usize) = (Vec::new(), 9, 0);
        let start = || (0..258).map(|k| if k < 256 { vec![k as u8] } else { Vec::new() }).collect::<Vec<_>>();
        let (mut out, mut last): (Vec<u8>, Option<usize>) = (Vec::new(), None);
        loop {
            let code = (0..width as usize).map(|k| usize::from(bytes[(at + k) / 8] >> ((at + k) % 8) & 1) << k).sum::<usize>();
            at += width as usize;
            if code == clear {
                (table, width, last) = (start(), 9, None);
                continue;
            }
            if code == end {
                return out;
            }
            if let Some(last) = last {
                let mut word = table[last].clone();
                let first = if code < table.len() { table[code][0] } else { word[0] };
                word.push(first);
                if table.len() < 4096 {
                    table.push(word);
                }
            }
            out.extend(&table[code]);
            last = Some(code);
            if table.len() == 1 << width && width < 12 {
                width += 1;
            }
        }
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        let mut x = 7u32;
        for n in [1usize, 2, 255, 5000, 60_000] {
            for kinds in [1u32, 2, 7, 256] {
                let pixels: Vec<u8> = (0..n)
                    .map(|_| {
                        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        ((x >> 16) % kinds) as u8
                    })
                    .collect();
                assert_eq!(unpacked(&packed(&pixels)), pixels, "{n} pixels of {kinds} colours");
            }
        }
    }

    #[test]
    fn only_what_changes_is_kept() {
        let (a, mut b) = (vec![0u8; 20], vec![0u8; 20]);
        assert_eq!(changed(&a, &b, 5, 4), [0, 0, 1, 1]);
        (b[7], b[13]) = (1, 1);
        assert_eq!(changed(&a, &b, 5, 4), [2, 1, 2, 2]);
        assert_eq!(changed(&[], &b, 5, 4), [0, 0, 5, 4]);
    }
}
