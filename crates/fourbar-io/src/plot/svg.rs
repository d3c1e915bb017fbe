//! Curves as an SVG picture: thin lines, quiet grid, colours that colour-blind people can tell apart.

use super::{Curve, label, range, short, ticks};
use std::fmt::Write;

/// Okabe and Ito's colours, the yellow left out: it is too faint on white.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];
/// Size of the picture.
const W: f64 = 800.0;
const H: f64 = 480.0;
/// Margins around the field.
const LEFT: f64 = 78.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;

/// Draws curves over a common abscissa named `x`; `None` where nothing is finite.
pub fn svg(title: &str, x: (&str, &str), curves: &[Curve<'_>]) -> Option<String> {
    let (x0, x1) = range(curves.iter().flat_map(|c| c.x))?;
    let (y0, y1) = range(curves.iter().flat_map(|c| c.y))?;
    let room = 0.04 * (y1 - y0);
    let (y0, y1) = (y0 - room, y1 + room);
    let px = |v: f64| LEFT + (v - x0) / (x1 - x0) * (W - LEFT - RIGHT);
    let py = |v: f64| H - BOTTOM - (v - y0) / (y1 - y0) * (H - TOP - BOTTOM);
    let mut s = String::new();
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        s,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {W} {H}" width="{W}" height="{H}" font-family="sans-serif" font-size="12" fill="#333">"##
    );
    let _ = writeln!(s, r##"<rect width="{W}" height="{H}" fill="#fff"/>"##);
    let _ = writeln!(s, r##"<text x="{LEFT}" y="20" font-size="14">{}</text>"##, escaped(title));
    for v in ticks(x0, x1, 8) {
        let p = px(v);
        let _ = writeln!(
            s,
            r##"<path d="M{p:.1} {TOP}V{:.1}" stroke="#e4e4e4"/><text x="{p:.1}" y="{:.1}" text-anchor="middle">{}</text>"##,
            H - BOTTOM,
            H - BOTTOM + 18.0,
            short(v)
        );
    }
    for v in ticks(y0, y1, 6) {
        let p = py(v);
        let _ = writeln!(
            s,
            r##"<path d="M{LEFT} {p:.1}H{:.1}" stroke="#e4e4e4"/><text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"##,
            W - RIGHT,
            LEFT - 8.0,
            p + 4.0,
            short(v)
        );
    }
    let _ = writeln!(s, r##"<path d="M{LEFT} {TOP}V{:.1}H{:.1}" stroke="#666" fill="none"/>"##, H - BOTTOM, W - RIGHT);
    let _ = writeln!(
        s,
        r##"<text x="{:.1}" y="{:.1}" text-anchor="middle">{}</text>"##,
        0.5 * (LEFT + W - RIGHT),
        H - 12.0,
        escaped(&label(x.0, x.1))
    );
    for (k, curve) in curves.iter().enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        let mut path = String::new();
        let mut pen_down = false;
        for (&x, &y) in curve.x.iter().zip(curve.y) {
            if !(x.is_finite() && y.is_finite()) {
                pen_down = false;
                continue;
            }
            let _ = write!(path, "{}{:.2} {:.2}", if pen_down { 'L' } else { 'M' }, px(x), py(y));
            pen_down = true;
        }
        let _ = writeln!(s, r##"<path d="{path}" stroke="{colour}" stroke-width="1.5" stroke-linejoin="round" fill="none"/>"##);
        let (lx, ly) = (W - RIGHT - 8.0, TOP + 16.0 + 17.0 * k as f64);
        let _ = writeln!(
            s,
            r##"<text x="{lx:.1}" y="{ly:.1}" text-anchor="end" fill="{colour}" stroke="#fff" stroke-width="3" paint-order="stroke">{}</text>"##,
            escaped(&label(curve.name, curve.unit))
        );
    }
    s.push_str("</svg>\n");
    Some(s)
}

fn escaped(text: &str) -> String {
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
    fn a_picture_holds_its_curves_and_labels_and_hides_no_markup() {
        let (x, y) = ([0.0, 1.0, 2.0, 3.0], [0.0, f64::NAN, 4.0, 9.0]);
        let curves = [Curve { name: "a.r.x", unit: "m", x: &x, y: &y }, Curve { name: "<b>", unit: "", x: &x, y: &x }];
        let text = svg("squares & <co>", ("t", "s"), &curves).expect("finite");
        assert!(
            text.contains("a.r.x [m]") && text.contains("&lt;b&gt;") && text.contains("squares &amp; &lt;co&gt;") && text.contains("t [s]")
        );
        // The gap lifts the pen.
        let path = text.lines().find(|l| l.contains("#0072b2")).expect("first curve");
        assert_eq!(path.matches(['M']).count(), 2, "{path}");
        assert!(svg("", ("t", ""), &[Curve { name: "n", unit: "", x: &[f64::NAN], y: &[1.0] }]).is_none());
    }
}
