//! Plots of columns: dots on a terminal, or SVG or PNG.

mod picture;
mod png;
mod svg;
mod text;

pub use picture::Scale;
pub(crate) use png::signed;
pub use png::{png, png_scaled};
pub(crate) use svg::escaped;
pub use svg::{svg, svg_marked, svg_scaled};
pub use text::{TextPlot, text_plot};

/// A curve with its name.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    /// Name in the legend.
    pub name: &'a str,
    /// Unit, empty where unknown.
    pub unit: &'a str,
    /// Abscissae.
    pub x: &'a [f64],
    /// Ordinates.
    pub y: &'a [f64],
}

/// A label: name and unit.
pub(crate) fn label(name: &str, unit: &str) -> String {
    if unit.is_empty() || unit == "1" { name.into() } else { format!("{name} [{unit}]") }
}

/// Smallest and largest finite value, widened if they are equal within rounding.
pub(crate) fn range<'a>(values: impl Iterator<Item = &'a f64>) -> Option<(f64, f64)> {
    let (lo, hi) = values.filter(|x| x.is_finite()).fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &x| (lo.min(x), hi.max(x)));
    if lo > hi {
        return None;
    }
    // Variations within rounding must not fill the plot.
    let least = 1e-9 * lo.abs().max(hi.abs()).max(1e-12);
    if hi - lo > least { Some((lo, hi)) } else { Some((lo - least.max(0.5 * lo.abs()), hi + least.max(0.5 * hi.abs()))) }
}

/// Round numbers that divide a range into about `count` parts.
pub(crate) fn ticks(lo: f64, hi: f64, count: usize) -> Vec<f64> {
    let raw = (hi - lo) / count.max(1) as f64;
    let power = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].iter().map(|m| m * power).find(|s| *s >= raw * (1.0 - 1e-9)).unwrap_or(raw);
    let first = (lo / step - 1e-9).ceil();
    (0..=2 * count).map(|k| (first + k as f64) * step).take_while(|x| *x <= hi + 1e-9 * step).map(|x| rounded(x, step)).collect()
}

/// Zero for a value that is rounding error relative to a size, otherwise the value.
pub(crate) fn rounded(x: f64, size: f64) -> f64 {
    if x.abs() < 1e-12 * size { 0.0 } else { x }
}

/// A number for an axis, with few digits.
pub(crate) fn short(x: f64) -> String {
    shortened(x, 0)
}

/// As above, with some more digits.
fn shortened(x: f64, more: usize) -> String {
    let size = x.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e5).contains(&size) {
        let text = format!("{x:.*e}", 2 + more);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
        return format!("{mantissa}e{exponent}");
    }
    let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize + more;
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// Numbers of an axis, with enough digits to distinguish its ticks and to give each position correctly.
pub(crate) fn labels(ticks: &[f64]) -> Vec<String> {
    let step = ticks.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
    let with = |more: usize| -> Vec<String> { ticks.iter().map(|x| shortened(*x, more)).collect() };
    let true_ones =
        |list: &Vec<String>| list.iter().zip(ticks).all(|(text, x)| text.parse().is_ok_and(|y: f64| (x - y).abs() <= 0.02 * step));
    (0..12).map(with).find(true_ones).unwrap_or_else(|| with(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(0.0, 1.0, 5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(-0.13, 0.29, 4), [0.0, 0.2]);
        for (lo, hi) in [(1e-9, 3e-9), (-7e5, 1e6), (3.0, 3.1)] {
            let t = ticks(lo, hi, 5);
            assert!((3..=11).contains(&t.len()) && t.iter().all(|x| *x >= lo - 1e-9 * hi && *x <= hi * (1.0 + 1e-9)), "{t:?}");
        }
    }

    #[test]
    fn numbers_of_axes_are_short() {
        let text: Vec<String> = [0.0, 0.1 + 0.2, 1234.5678, -2.5e-7, 6.0e9, 100.0].into_iter().map(short).collect();
        assert_eq!(text, ["0", "0.3", "1235", "-2.5e-7", "6e9", "100"]);
    }

    #[test]
    fn ticks_that_are_close_together_have_names_of_their_own() {
        assert_eq!(labels(&ticks(0.21388, 0.21403, 3)), ["0.2139", "0.21395", "0.214"]);
        assert_eq!(
            labels(&ticks(0.0799, 0.0801, 8)),
            ["0.0799", "0.079925", "0.07995", "0.079975", "0.08", "0.080025", "0.08005", "0.080075", "0.0801"]
        );
        assert_eq!(labels(&ticks(1e6, 1.0001e6, 2)), ["1e6", "1.00005e6", "1.0001e6"]);
        assert_eq!(labels(&ticks(0.0, 1.0, 4)), ["0", "0.25", "0.5", "0.75", "1"]);
        assert_eq!(labels(&ticks(-2e-9, 2e-9, 2)), ["-2e-9", "0", "2e-9"]);
        assert_eq!(labels(&ticks(-2e-13, 2e-13, 2)), ["-2e-13", "0", "2e-13"]);
        assert_eq!(labels(&ticks(0.0, 1e-20, 2)), ["0", "5e-21", "1e-20"]);
    }

    #[test]
    fn a_constant_gets_room() {
        assert_eq!(range([2.0, 2.0].iter()), Some((1.0, 3.0)));
        assert_eq!(range([f64::NAN].iter()), None);
    }
}
