//! A plot of dots for the terminal: each character cell holds two by four dots.

use super::{label, range, rounded, short};

/// What to draw, and the size of the plot.
#[derive(Clone, Copy, Debug)]
pub struct TextPlot<'a> {
    /// Name and unit of the abscissa.
    pub x: (&'a str, &'a str),
    /// Name and unit of the ordinate.
    pub y: (&'a str, &'a str),
    /// Width of the plotting area in characters.
    pub width: usize,
    /// Height of the plotting area in lines.
    pub height: usize,
    /// Whether both axes have the same scale, as needed for a path in space.
    pub equal: bool,
}

/// Draws a curve; an empty text if no point is finite.
pub fn text_plot(plot: &TextPlot<'_>, x: &[f64], y: &[f64]) -> String {
    let (Some((mut x0, mut x1)), Some((mut y0, mut y1))) = (range(x.iter()), range(y.iter())) else { return String::new() };
    let (columns, rows) = (2 * plot.width.max(2), 4 * plot.height.max(2));
    if plot.equal {
        // Dots are about square: cells are twice as high as wide and hold two by four dots.
        let scale = ((x1 - x0) / (columns - 1) as f64).max((y1 - y0) / (rows - 1) as f64);
        let (cx, cy) = (0.5 * (x0 + x1), 0.5 * (y0 + y1));
        let (hx, hy) = (0.5 * scale * (columns - 1) as f64, 0.5 * scale * (rows - 1) as f64);
        (x0, x1, y0, y1) = (cx - hx, cx + hx, cy - hy, cy + hy);
    }
    let mut field = vec![0_u8; plot.width.max(2) * plot.height.max(2)];
    let place = |x: f64, y: f64| ((x - x0) / (x1 - x0) * (columns - 1) as f64, (y1 - y) / (y1 - y0) * (rows - 1) as f64);
    let mut last: Option<(f64, f64)> = None;
    for (&x, &y) in x.iter().zip(y) {
        if !(x.is_finite() && y.is_finite()) {
            last = None;
            continue;
        }
        let (u, v) = place(x, y);
        let (from_u, from_v) = last.unwrap_or((u, v));
        // Dots close enough to look like a line.
        let n = (u - from_u).abs().max((v - from_v).abs()).ceil().max(1.0) as usize;
        for k in 0..=n {
            let f = k as f64 / n as f64;
            let (u, v) = ((from_u + f * (u - from_u)).round() as usize, (from_v + f * (v - from_v)).round() as usize);
            let (u, v) = (u.min(columns - 1), v.min(rows - 1));
            field[v / 4 * plot.width.max(2) + u / 2] |= bit(u % 2, v % 4);
        }
        last = Some((u, v));
    }
    let [top, bottom] = [y1, y0].map(|y| short(rounded(y, y1 - y0)));
    let margin = top.len().max(bottom.len());
    let mut out = format!("{:margin$}  {}\n", "", label(plot.y.0, plot.y.1));
    for (k, line) in field.chunks(plot.width.max(2)).enumerate() {
        let mark = match k {
            0 => &top,
            k if k + 1 == plot.height.max(2) => &bottom,
            _ => "",
        };
        let dots: String = line.iter().map(|&b| if b == 0 { ' ' } else { char::from_u32(0x2800 + u32::from(b)).unwrap_or('*') }).collect();
        out += format!("{mark:>margin$} |{dots}").trim_end();
        out.push('\n');
    }
    out += &format!("{:margin$} +{}\n", "", "-".repeat(plot.width.max(2)));
    let [left, right] = [x0, x1].map(|x| short(rounded(x, x1 - x0)));
    let name = label(plot.x.0, plot.x.1);
    let room = (plot.width.max(2)).saturating_sub(left.len() + right.len() + name.len());
    let before = room / 2;
    out += &format!("{:margin$}  {left}{:before$}{name}{:after$}{right}\n", "", "", "", after = room - before);
    out
}

/// The bit of a dot within its cell, as the Braille patterns of Unicode number them.
fn bit(u: usize, v: usize) -> u8 {
    [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]][v][u]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: TextPlot<'static> = TextPlot { x: ("t", "s"), y: ("y", "m"), width: 10, height: 3, equal: false };

    #[test]
    fn a_rising_line_runs_from_the_lower_left_to_the_upper_right() {
        let x: Vec<f64> = (0..=10).map(f64::from).collect();
        let lines: Vec<String> = text_plot(&PLOT, &x, &x).lines().map(String::from).collect();
        assert_eq!(lines.len(), 6);
        let dot = |c: Option<char>| c.is_some_and(|c| ('\u{2801}'..='\u{28ff}').contains(&c));
        // Upper line: the mark of the largest value, dots only at its right end; lower line: dots only at its left end.
        assert!(lines[1].starts_with("10 |  ") && lines[1].chars().count() == 14 && dot(lines[1].chars().last()), "{lines:?}");
        assert!(lines[3].starts_with(" 0 |") && lines[3].chars().count() < 10 && dot(lines[3].chars().nth(4)), "{lines:?}");
        assert_eq!(lines[0].trim(), "y [m]");
        assert!(lines[5].contains("t [s]"));
    }

    #[test]
    fn gaps_and_nothing_are_harmless() {
        assert_eq!(text_plot(&PLOT, &[], &[]), "");
        assert!(text_plot(&PLOT, &[0.0, 1.0, 2.0], &[1.0, f64::NAN, 1.0]).contains('|'));
    }
}
