//! Curves as an SVG picture: thin lines, light grid, colours that colour-blind people can distinguish.

use super::Curve;
use super::picture::{Anchor, Mark, Scale, picture};
use crate::disk::MARK;
use std::fmt::Write;

/// Draws curves over a common abscissa named `x`; `None` if no value is finite.
pub fn svg(title: &str, x: (&str, &str), curves: &[Curve<'_>]) -> Option<String> {
    svg_marked(title, x, ("", ""), Scale::default(), curves)
}

/// As above, with options of the axes.
pub fn svg_marked(title: &str, x: (&str, &str), y: (&str, &str), scale: Scale, curves: &[Curve<'_>]) -> Option<String> {
    // The picture names this program, so that a later run may replace it.
    svg_scaled(title, x, y, scale, curves).map(|s| s.replacen('\n', &format!("\n<desc>{MARK}</desc>\n"), 1))
}

/// As above, with a name for the ordinate and options of the axes.
pub fn svg_scaled(title: &str, x: (&str, &str), y: (&str, &str), scale: Scale, curves: &[Curve<'_>]) -> Option<String> {
    let marks = picture(title, x, y, scale, curves)?;
    let [w, h] = scale.size();
    let mut s = String::new();
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        s,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" font-family="sans-serif">"##
    );
    let _ = writeln!(s, r##"<rect width="{w}" height="{h}" fill="#fff"/>"##);
    for mark in &marks {
        match mark {
            Mark::Line { strokes, colour, width } => {
                let mut path = String::new();
                for stroke in strokes {
                    for (k, [x, y]) in stroke.iter().enumerate() {
                        let _ = write!(path, "{}{x:.2} {y:.2}", if k == 0 { 'M' } else { 'L' });
                    }
                }
                let _ = writeln!(
                    s,
                    r##"<path d="{path}" stroke="{}" stroke-width="{width}" stroke-linejoin="round" fill="none"/>"##,
                    hex(colour)
                );
            }
            Mark::Text { at: [x, y], size, anchor, colour, halo, text } => {
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                let halo = if *halo { r##" stroke="#fff" stroke-width="3" paint-order="stroke""## } else { "" };
                let (colour, text) = (hex(colour), escaped(text));
                let _ = writeln!(
                    s,
                    r##"<text x="{x:.1}" y="{y:.1}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"{halo}>{text}</text>"##
                );
            }
        }
    }
    s.push_str("</svg>\n");
    Some(s)
}

fn hex([r, g, b]: &[u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A text escaped for XML.
pub(crate) fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '<' => "&lt;".into(),
            '>' => "&gt;".into(),
            '&' => "&amp;".into(),
            c if c.is_control() => " ".into(),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithmic_axes_have_powers_of_ten_and_leave_out_what_has_no_logarithm() {
        let (x, y) = ([1e-3, 1e-2, 1e-1, 1.0], [1e-9, 1e-6, 0.0, 1e-2]);
        let scale = Scale { log_x: true, log_y: true, dots: true, ..Scale::default() };
        let text = svg_scaled("order", ("h", "s"), ("error", "m"), scale, &[Curve { name: "e", unit: "", x: &x, y: &y }]).expect("finite");
        assert!(text.contains(">1e-6<") && text.contains(">0.01<") && text.contains("error [m]"));
        // Three dots and the two pieces of the line that zero breaks.
        assert_eq!(text.lines().filter(|l| l.contains("#0072b2") && l.contains("<path")).count(), 2, "{text}");
    }

    #[test]
    fn equal_axes_draw_a_circle_round() {
        let (x, y): (Vec<f64>, Vec<f64>) = (0..=100).map(|k| (f64::from(k) * std::f64::consts::TAU / 100.0).sin_cos()).unzip();
        let scale = Scale { equal: true, ..Scale::default() };
        let text = svg_marked("", ("x", "m"), ("y", "m"), scale, &[Curve { name: "p", unit: "", x: &x, y: &y }]).expect("finite");
        let path = text.lines().find(|l| l.contains("#0072b2")).and_then(|l| l.split('"').nth(1)).expect("the curve");
        let points: Vec<Vec<f64>> = path
            .split(['M', 'L'])
            .filter(|p| !p.is_empty())
            .map(|p| p.split(' ').map(|n| n.parse().expect("a number")).collect())
            .collect();
        let extent = |k: usize| points.iter().map(|p| p[k]).fold(f64::MIN, f64::max) - points.iter().map(|p| p[k]).fold(f64::MAX, f64::min);
        assert!((extent(0) - extent(1)).abs() < 0.1, "{} {}", extent(0), extent(1));
    }

    #[test]
    fn a_picture_holds_its_curves_and_labels_and_hides_no_markup() {
        let (x, y) = ([0.0, 1.0, 2.0, 3.0], [0.0, f64::NAN, 4.0, 9.0]);
        let curves = [Curve { name: "a.r.x", unit: "m", x: &x, y: &y }, Curve { name: "<b>", unit: "", x: &x, y: &x }];
        let text = svg("squares & <co>", ("t", "s"), &curves).expect("finite");
        assert!(
            text.contains("a.r.x [m]") && text.contains("&lt;b&gt;") && text.contains("squares &amp; &lt;co&gt;") && text.contains("t [s]")
        );
        // The gap starts a new stroke.
        let path = text.lines().find(|l| l.contains("#0072b2")).expect("first curve");
        assert_eq!(path.matches(['M']).count(), 2, "{path}");
        assert!(svg("", ("t", ""), &[Curve { name: "n", unit: "", x: &[f64::NAN], y: &[1.0] }]).is_none());
    }
}
