//! A plot as a list of marks: lines and texts, to be written as SVG or painted as PNG.

use super::{Curve, label, labels, range, short, ticks};

/// The colours of Okabe and Ito without the yellow, which is too faint on white.
const COLOURS: [[u8; 3]; 14] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [86, 180, 233],
    [230, 159, 0],
    [0, 0, 0],
    [130, 60, 0],
    [90, 40, 170],
    [130, 130, 0],
    [200, 0, 60],
    [0, 80, 60],
    [130, 130, 130],
    [150, 110, 220],
];
const INK: [u8; 3] = [0x33, 0x33, 0x33];
const GRID: [u8; 3] = [0xe4, 0xe4, 0xe4];
const FRAME: [u8; 3] = [0x66, 0x66, 0x66];
/// Margins around the plotting area.
const LEFT: f64 = 78.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;

/// Position of a text relative to its anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A mark of the picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mark {
    /// Strokes of the same colour and width.
    Line { strokes: Vec<Vec<[f64; 2]>>, colour: [u8; 3], width: f64 },
    /// A text; a halo keeps it readable over lines.
    Text { at: [f64; 2], size: f64, anchor: Anchor, colour: [u8; 3], halo: bool, text: String },
}

fn line(points: Vec<[f64; 2]>, colour: [u8; 3]) -> Mark {
    Mark::Line { strokes: vec![points], colour, width: 1.0 }
}

fn text(at: [f64; 2], anchor: Anchor, text: String) -> Mark {
    Mark::Text { at, size: 12.0, anchor, colour: INK, halo: false, text }
}

/// Options of the axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    /// Logarithmic abscissa.
    pub log_x: bool,
    /// Logarithmic ordinate.
    pub log_y: bool,
    /// A dot at every point.
    pub dots: bool,
    /// Both axes have the same scale, as needed for a path in space.
    pub equal: bool,
    /// Half as wide, for pages that show several pictures side by side; the letters keep their size.
    pub compact: bool,
}

impl Scale {
    /// Width and height of the picture.
    pub(super) fn size(self) -> [f64; 2] {
        if self.compact { [440.0, 300.0] } else { [800.0, 480.0] }
    }
}

/// Values as drawn: logarithms of positive numbers if `log`.
fn placed(values: &[f64], log: bool) -> Vec<f64> {
    values
        .iter()
        .map(|&v| {
            if !log {
                v
            } else if v > 0.0 {
                v.log10()
            } else {
                f64::NAN
            }
        })
        .collect()
}

/// Whole powers of ten inside a range, thinned out where there are many; plain ticks if there is at most one.
fn powers(lo: f64, hi: f64, count: usize) -> Vec<f64> {
    let (first, last) = ((lo - 1e-9).ceil() as i64, (hi + 1e-9).floor() as i64);
    if last - first < 1 {
        return ticks(lo, hi, 4);
    }
    let step = ((last - first) as usize / count.max(1) + 1) as i64;
    (first..=last).filter(|k| k.rem_euclid(step) == 0).map(|k| k as f64).collect()
}

/// Ranges enlarged until a unit has the same length on both axes.
fn equal([w, h]: [f64; 2], [x0, x1]: [f64; 2], [y0, y1]: [f64; 2]) -> ([f64; 2], [f64; 2]) {
    let (wide, high) = (w - LEFT - RIGHT, h - TOP - BOTTOM);
    let unit = (1.04 * (x1 - x0) / wide).max((y1 - y0) / high);
    let around = |a: f64, b: f64, size: f64| [0.5 * (a + b) - 0.5 * unit * size, 0.5 * (a + b) + 0.5 * unit * size];
    (around(x0, x1, wide), around(y0, y1, high))
}

/// Lays out curves over a common abscissa named `x`; `None` if no value is finite.
pub(super) fn picture(title: &str, x: (&str, &str), y: (&str, &str), scale: Scale, curves: &[Curve<'_>]) -> Option<Vec<Mark>> {
    let [w, h] = scale.size();
    let (across, up) = if scale.compact { (4, 5) } else { (8, 6) };
    let xs: Vec<Vec<f64>> = curves.iter().map(|c| placed(c.x, scale.log_x)).collect();
    let ys: Vec<Vec<f64>> = curves.iter().map(|c| placed(c.y, scale.log_y)).collect();
    let (x0, x1) = range(xs.iter().flatten())?;
    let (y0, y1) = range(ys.iter().flatten())?;
    let names = |list: &[f64], log: bool| match log {
        // Very small and very large powers are labelled in exponent form, so that small numbers are not shown as zero.
        true => list.iter().map(|v| if (-3.0..5.0).contains(v) { short(10_f64.powf(*v)) } else { format!("1e{v:.0}") }).collect(),
        false => labels(list),
    };
    let room = 0.04 * (y1 - y0);
    let ([x0, x1], [y0, y1]) = match scale.equal {
        true => equal([w, h], [x0, x1], [y0 - room, y1 + room]),
        false => ([x0, x1], [y0 - room, y1 + room]),
    };
    let px = |v: f64| LEFT + (v - x0) / (x1 - x0) * (w - LEFT - RIGHT);
    let py = |v: f64| h - BOTTOM - (v - y0) / (y1 - y0) * (h - TOP - BOTTOM);
    let mut marks = vec![Mark::Text { at: [LEFT, 20.0], size: 14.0, anchor: Anchor::Start, colour: INK, halo: false, text: title.into() }];
    let at = if scale.log_x { powers(x0, x1, across) } else { ticks(x0, x1, across) };
    for (&v, name) in at.iter().zip(names(&at, scale.log_x)) {
        marks.push(line(vec![[px(v), TOP], [px(v), h - BOTTOM]], GRID));
        marks.push(text([px(v), h - BOTTOM + 18.0], Anchor::Middle, name));
    }
    let at = if scale.log_y { powers(y0, y1, up + 2) } else { ticks(y0, y1, up) };
    for (&v, name) in at.iter().zip(names(&at, scale.log_y)) {
        marks.push(line(vec![[LEFT, py(v)], [w - RIGHT, py(v)]], GRID));
        marks.push(text([LEFT - 8.0, py(v) + 4.0], Anchor::End, name));
    }
    marks.push(line(vec![[LEFT, TOP], [LEFT, h - BOTTOM], [w - RIGHT, h - BOTTOM]], FRAME));
    marks.push(text([0.5 * (LEFT + w - RIGHT), h - 12.0], Anchor::Middle, label(x.0, x.1)));
    if !y.0.is_empty() {
        marks.push(text([LEFT, TOP - 6.0], Anchor::Start, label(y.0, y.1)));
    }
    let mut drawn: Vec<[f64; 2]> = Vec::new();
    for (k, _) in curves.iter().enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        // A gap in the data starts a new stroke.
        let points: Vec<Option<[f64; 2]>> =
            xs[k].iter().zip(&ys[k]).map(|(&x, &y)| (x.is_finite() && y.is_finite()).then(|| [px(x), py(y)])).collect();
        drawn.extend(points.iter().flatten());
        if scale.dots {
            let dot = |[x, y]: [f64; 2]| {
                (0..=8).map(|k| f64::from(k) * std::f64::consts::FRAC_PI_4).map(|a| [x + 2.2 * a.cos(), y + 2.2 * a.sin()]).collect()
            };
            marks.push(Mark::Line { strokes: points.iter().flatten().map(|p| dot(*p)).collect(), colour, width: 1.5 });
        }
        let strokes = points.split(Option::is_none).filter(|s| !s.is_empty()).map(|s| s.iter().flatten().copied().collect()).collect();
        marks.push(Mark::Line { strokes, colour, width: 1.5 });
    }
    // Names are drawn last, over the lines, at the place on the left or right with the fewest points; by default at the upper right.
    let names: Vec<String> = curves.iter().map(|c| label(c.name, c.unit)).collect();
    let (wide, high) = (7.0 * names.iter().map(String::len).max().unwrap_or(0) as f64 + 16.0, 17.0 * names.len() as f64 + 8.0);
    let top = |down: f64| TOP + down * (h - BOTTOM - high - TOP);
    let crowd = |&(right, down): &(bool, f64)| {
        let (x, y) = (if right { w - RIGHT - wide } else { LEFT }, top(down));
        drawn.iter().filter(|p| (x..x + wide).contains(&p[0]) && (y..y + high).contains(&p[1])).count()
    };
    let places = [(true, 0.0), (false, 0.0), (true, 1.0), (false, 1.0), (true, 0.5), (false, 0.5)];
    let (right, down) = places.into_iter().min_by_key(crowd).unwrap_or(places[0]);
    let (x, anchor) = if right { (w - RIGHT - 8.0, Anchor::End) } else { (LEFT + 8.0, Anchor::Start) };
    let y = top(down);
    for (k, text) in names.into_iter().enumerate() {
        let (at, colour) = ([x, y + 16.0 + 17.0 * k as f64], COLOURS[k % COLOURS.len()]);
        marks.push(Mark::Text { at, size: 12.0, anchor, colour, halo: true, text });
    }
    Some(marks)
}
