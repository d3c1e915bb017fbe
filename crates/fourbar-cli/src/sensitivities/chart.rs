//! Rankings as bars: on the terminal, as a picture, and as a table.

use super::Answer;
use fourbar::diagnostic::number;
use fourbar_io::disk::MARK;
use std::fmt::Write;

/// Length of the longest bar in characters.
const WIDTH: f64 = 24.0;

/// A bar for a fraction of the largest effect.
pub fn bar(share: f64) -> String {
    let length = (share.abs() * WIDTH).round() as usize;
    let sign = if share < 0.0 { "-" } else { "+" };
    if length == 0 { String::new() } else { format!("{sign} {}", "#".repeat(length)) }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Charts one below the other: effects of one per cent of each parameter, the largest first.
pub fn svg(answers: &[Answer]) -> String {
    let (row, left, width) = (22.0, 170.0, 760.0);
    let height: f64 = answers.iter().map(|a| 62.0 + row * a.parameters.len() as f64).sum();
    let mut s = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n<desc>{MARK}</desc>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    let (middle, half) = (left + 0.5 * (width - left - 90.0), 0.5 * (width - left - 90.0));
    let mut y = 26.0;
    for a in answers {
        let ranked = a.ranked();
        let top = ranked.first().map_or(1.0, |r| r.1.abs()).max(f64::MIN_POSITIVE);
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            s,
            "<text x=\"12\" y=\"{y}\" font-weight=\"600\">{} = {} {}</text>",
            escaped(&a.d.of),
            number(a.d.value),
            escaped(&a.d.unit)
        );
        let _ =
            writeln!(s, "<text x=\"12\" y=\"{}\" fill=\"#5a6675\" font-size=\"11\">change for 1 % more of each parameter</text>", y + 16.0);
        y += 26.0;
        for (k, effect) in ranked {
            let length = half * effect.abs() / top;
            let x = if effect < 0.0 { middle - length } else { middle };
            let colour = if effect < 0.0 { "#d55e00" } else { "#0072b2" };
            let _ =
                writeln!(s, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", left - 10.0, y + 15.0, escaped(&a.parameters[k].0));
            let _ = writeln!(
                s,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
                y + 3.0,
                row - 6.0
            );
            let _ = writeln!(
                s,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#5a6675\">{}</text>",
                width - 8.0,
                y + 15.0,
                number(effect)
            );
            y += row;
        }
        let _ = writeln!(
            s,
            "<line x1=\"{middle}\" x2=\"{middle}\" y1=\"{}\" y2=\"{y}\" stroke=\"#9fb0c0\"/>",
            y - row * a.parameters.len() as f64
        );
        y += 36.0;
    }
    s + "</svg>\n"
}

/// All derivatives as a table.
pub fn csv(answers: &[Answer]) -> String {
    let mut s = String::from("output,output_value,parameter,value,derivative,error,per_cent\n");
    for a in answers {
        for (k, effect) in a.ranked() {
            let name = if a.d.of.contains([',', '"']) { format!("\"{}\"", a.d.of.replace('"', "\"\"")) } else { a.d.of.clone() };
            let numbers = [a.parameters[k].1, a.d.slopes[k], a.d.errors[k], effect].map(|x| format!("{x:?}")).join(",");
            let _ = writeln!(s, "{name},{:?},{},{numbers}", a.d.value, a.parameters[k].0);
        }
    }
    s
}
