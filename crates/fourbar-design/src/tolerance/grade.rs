//! Standard tolerances of lengths: the grades of ISO 286-1, in micrometres, for sizes of up to 500 mm.

/// Upper limits of the size ranges, millimetres.
const SIZES: [f64; 13] = [3.0, 6.0, 10.0, 18.0, 30.0, 50.0, 80.0, 120.0, 180.0, 250.0, 315.0, 400.0, 500.0];

/// Tolerance widths of grades 5 to 13, micrometres. Those of grades 14 to 16 are ten times those five grades below.
const WIDTHS: [[f64; 9]; 13] = [
    [4.0, 6.0, 10.0, 14.0, 25.0, 40.0, 60.0, 100.0, 140.0],
    [5.0, 8.0, 12.0, 18.0, 30.0, 48.0, 75.0, 120.0, 180.0],
    [6.0, 9.0, 15.0, 22.0, 36.0, 58.0, 90.0, 150.0, 220.0],
    [8.0, 11.0, 18.0, 27.0, 43.0, 70.0, 110.0, 180.0, 270.0],
    [9.0, 13.0, 21.0, 33.0, 52.0, 84.0, 130.0, 210.0, 330.0],
    [11.0, 16.0, 25.0, 39.0, 62.0, 100.0, 160.0, 250.0, 390.0],
    [13.0, 19.0, 30.0, 46.0, 74.0, 120.0, 190.0, 300.0, 460.0],
    [15.0, 22.0, 35.0, 54.0, 87.0, 140.0, 220.0, 350.0, 540.0],
    [18.0, 25.0, 40.0, 63.0, 100.0, 160.0, 250.0, 400.0, 630.0],
    [20.0, 29.0, 46.0, 72.0, 115.0, 185.0, 290.0, 460.0, 720.0],
    [23.0, 32.0, 52.0, 81.0, 130.0, 210.0, 320.0, 520.0, 810.0],
    [25.0, 36.0, 57.0, 89.0, 140.0, 230.0, 360.0, 570.0, 890.0],
    [27.0, 40.0, 63.0, 97.0, 155.0, 250.0, 400.0, 630.0, 970.0],
];

/// Tolerance width of a grade (`IT5` to `IT16`) for a length, both in metres; `None` if undefined.
pub fn width(grade: &str, length: f64) -> Option<f64> {
    let number: usize = grade.trim().strip_prefix("IT").or(grade.trim().strip_prefix("it"))?.trim().parse().ok()?;
    let size = length.abs() * 1e3;
    let row = SIZES.iter().position(|end| size <= end * (1.0 + 1e-12)).filter(|_| size > 0.0)?;
    let micrometres = match number {
        5..=13 => WIDTHS[row][number - 5],
        14..=16 => 10.0 * WIDTHS[row][number - 10],
        _ => return None,
    };
    Some(micrometres / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_follow_the_formula_of_the_standard() {
        // The standard rounds multiples of i = 0.45 D^(1/3) + 0.001 D (micrometres, D the geometric mean of the range in mm).
        let multiples = [7.0, 10.0, 16.0, 25.0, 40.0, 64.0, 100.0, 160.0, 250.0];
        for (row, pair) in SIZES.windows(2).enumerate() {
            let d = (pair[0] * pair[1]).sqrt();
            let i = 0.45 * d.cbrt() + 0.001 * d;
            for (k, m) in multiples.iter().enumerate() {
                let w = WIDTHS[row + 1][k];
                assert!((w / (m * i) - 1.0).abs() < 0.1, "IT{} at {} mm: {w} against {}", k + 5, pair[1], m * i);
            }
        }
        assert_eq!(width("IT7", 0.06), Some(30e-6));
        assert_eq!(width("IT7", 0.08), Some(30e-6));
        assert_eq!(width("it14", 0.1), Some(870e-6));
        for (grade, length) in [("IT4", 0.1), ("IT17", 0.1), ("H7", 0.1), ("IT7", 0.6), ("IT7", 0.0), ("IT", 0.1)] {
            assert_eq!(width(grade, length), None, "{grade} {length}");
        }
    }
}
