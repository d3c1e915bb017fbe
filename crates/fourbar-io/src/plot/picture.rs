//! A plot as marks on paper: lines and texts, to be written as SVG or painted as PNG.

use super::{Curve, label, range, short, ticks};

/// Okabe and Ito's colours, the yellow left out: it is too faint on white.
const COLOURS: [[u8; 3]; 7] = [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [230, 159, 0], [0, 0, 0]];
const INK: [u8; 3] = [0x33, 0x33, 0x33];
const GRID: [u8; 3] = [0xe4, 0xe4, 0xe4];
const FRAME: [u8; 3] = [0x66, 0x66, 0x66];
/// Size of the picture.
pub(super) const W: f64 = 800.0;
pub(super) const H: f64 = 480.0;
/// Margins around the field.
const LEFT: f64 = 78.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;

/// Where a text stands relative to its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Something on the paper.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mark {
    /// Strokes of one pen.
    Line { strokes: Vec<Vec<[f64; 2]>>, colour: [u8; 3], width: f64 },
    /// A text; with a halo it stays readable over lines.
    Text { at: [f64; 2], size: f64, anchor: Anchor, colour: [u8; 3], halo: bool, text: String },
}

fn line(points: Vec<[f64; 2]>, colour: [u8; 3]) -> Mark {
    Mark::Line { strokes: vec![points], colour, width: 1.0 }
}

fn text(at: [f64; 2], anchor: Anchor, text: String) -> Mark {
    Mark::Text { at, size: 12.0, anchor, colour: INK, halo: false, text }
}

/// Lays out curves over a common abscissa named `x`; `None` where nothing is finite.
pub(super) fn picture(title: &str, x: (&str, &str), curves: &[Curve<'_>]) -> Option<Vec<Mark>> {
    let (x0, x1) = range(curves.iter().flat_map(|c| c.x))?;
    let (y0, y1) = range(curves.iter().flat_map(|c| c.y))?;
    let room = 0.04 * (y1 - y0);
    let (y0, y1) = (y0 - room, y1 + room);
    let px = |v: f64| LEFT + (v - x0) / (x1 - x0) * (W - LEFT - RIGHT);
    let py = |v: f64| H - BOTTOM - (v - y0) / (y1 - y0) * (H - TOP - BOTTOM);
    let mut marks = vec![Mark::Text { at: [LEFT, 20.0], size: 14.0, anchor: Anchor::Start, colour: INK, halo: false, text: title.into() }];
    for v in ticks(x0, x1, 8) {
        marks.push(line(vec![[px(v), TOP], [px(v), H - BOTTOM]], GRID));
        marks.push(text([px(v), H - BOTTOM + 18.0], Anchor::Middle, short(v)));
    }
    for v in ticks(y0, y1, 6) {
        marks.push(line(vec![[LEFT, py(v)], [W - RIGHT, py(v)]], GRID));
        marks.push(text([LEFT - 8.0, py(v) + 4.0], Anchor::End, short(v)));
    }
    marks.push(line(vec![[LEFT, TOP], [LEFT, H - BOTTOM], [W - RIGHT, H - BOTTOM]], FRAME));
    marks.push(text([0.5 * (LEFT + W - RIGHT), H - 12.0], Anchor::Middle, label(x.0, x.1)));
    for (k, curve) in curves.iter().enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        // A gap in the data lifts the pen.
        let points: Vec<Option<[f64; 2]>> =
            curve.x.iter().zip(curve.y).map(|(&x, &y)| (x.is_finite() && y.is_finite()).then(|| [px(x), py(y)])).collect();
        let strokes = points.split(Option::is_none).filter(|s| !s.is_empty()).map(|s| s.iter().flatten().copied().collect()).collect();
        marks.push(Mark::Line { strokes, colour, width: 1.5 });
        let at = [W - RIGHT - 8.0, TOP + 16.0 + 17.0 * k as f64];
        marks.push(Mark::Text { at, size: 12.0, anchor: Anchor::End, colour, halo: true, text: label(curve.name, curve.unit) });
    }
    Some(marks)
}
