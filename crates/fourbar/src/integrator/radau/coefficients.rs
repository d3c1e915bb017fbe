//! Radau IIA with three stages: nodes, the inverse of its matrix, and the transformation that parts its stages into one real and one complex
//! system.

use nalgebra::{Complex, Matrix3, Vector3};

/// Numbers of the method.
#[derive(Clone, Debug)]
pub struct Coefficients {
    /// Nodes.
    pub c: [f64; 3],
    /// Weights: the last row of its matrix, because the last stage is the end of the step.
    pub b: [f64; 3],
    /// Its matrix and the inverse.
    pub A: Matrix3<f64>,
    pub E: Matrix3<f64>,
    /// Eigenvalues of the inverse: the real one, and one of the complex pair.
    pub real: f64,
    pub complex: Complex<f64>,
    /// Left eigenvectors, which gather residuals of the stages.
    pub gather: Vector3<f64>,
    pub gather_complex: Vector3<Complex<f64>>,
    /// Right eigenvectors, which hand increments back to the stages.
    pub spread: Vector3<f64>,
    pub spread_complex: Vector3<Complex<f64>>,
    /// Weights of the error estimate [Hairer96, IV.8].
    pub e: [f64; 3],
}

impl Coefficients {
    /// Computed from the matrix of the method, so that every number is right to rounding.
    pub fn new() -> Self {
        let q = 6.0_f64.sqrt();
        let A = Matrix3::new(
            (88.0 - 7.0 * q) / 360.0,
            (296.0 - 169.0 * q) / 1800.0,
            (-2.0 + 3.0 * q) / 225.0,
            (296.0 + 169.0 * q) / 1800.0,
            (88.0 + 7.0 * q) / 360.0,
            (-2.0 - 3.0 * q) / 225.0,
            (16.0 - q) / 36.0,
            (16.0 + q) / 36.0,
            1.0 / 9.0,
        );
        // Its determinant is 1/60.
        let cofactor = |i: usize, j: usize| {
            let at = |a: usize, b: usize| A[((i + a) % 3, (j + b) % 3)];
            at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)
        };
        let E = Matrix3::from_fn(|i, j| 60.0 * cofactor(j, i));
        // The characteristic polynomial of E is x^3 - 9 x^2 + 36 x - 60; Newton's method for its real root.
        let mut real = 3.6_f64;
        for _ in 0..20 {
            real -= (((real - 9.0) * real + 36.0) * real - 60.0) / ((3.0 * real - 18.0) * real + 36.0);
        }
        let middle = 0.5 * (9.0 - real);
        let complex = Complex::new(middle, (60.0 / real - middle * middle).sqrt());
        let (x, y) = eigenvectors(&E, Complex::new(real, 0.0));
        let (spread_complex, gather_complex) = eigenvectors(&E, complex);
        Self {
            c: [(4.0 - q) / 10.0, (4.0 + q) / 10.0, 1.0],
            b: [(16.0 - q) / 36.0, (16.0 + q) / 36.0, 1.0 / 9.0],
            A,
            E,
            real,
            complex,
            spread: x.map(|x| x.re),
            gather: y.map(|y| y.re),
            spread_complex,
            gather_complex,
            e: [-(13.0 + 7.0 * q) / 3.0, (-13.0 + 7.0 * q) / 3.0, -1.0 / 3.0],
        }
    }

    /// Values at `x`, in steps, of the polynomials that are one at one of the nodes and zero at the others and at the start of the step.
    pub fn through_start(&self, x: f64) -> [f64; 3] {
        let node = |k: usize| if k == 0 { 0.0 } else { self.c[k - 1] };
        std::array::from_fn(|i| (0..4).filter(|k| *k != i + 1).map(|k| (x - node(k)) / (self.c[i] - node(k))).product())
    }

    /// Values of the polynomials that are one at one of the nodes and zero at the others.
    pub fn through_stages(&self, x: f64) -> [f64; 3] {
        std::array::from_fn(|i| (0..3).filter(|k| *k != i).map(|k| (x - self.c[k]) / (self.c[i] - self.c[k])).product())
    }

    /// Integrals from the start of the step to `x` of the polynomials that are one at the start or at one of the nodes and zero at the others.
    pub fn integrals_with_start(&self, x: f64) -> [f64; 4] {
        let nodes = [0.0, self.c[0], self.c[1], self.c[2]];
        std::array::from_fn(|k| {
            let [a, b, c] = std::array::from_fn(|j| nodes[if j < k { j } else { j + 1 }]);
            let (one, two, three) = (a + b + c, a * b + b * c + c * a, a * b * c);
            let integral = x * (x * (x * (0.25 * x - one / 3.0) + 0.5 * two) - three);
            integral / ((nodes[k] - a) * (nodes[k] - b) * (nodes[k] - c))
        })
    }

    /// Integral over a share `x` of a step of unit size of what has these values at its start and at its stages: over the whole step that of
    /// the method.
    pub fn integral(&self, x: f64, values: &[f64; 4]) -> f64 {
        let sum = |w: &[f64; 4]| (0..4).map(|k| w[k] * values[k]).sum::<f64>();
        let whole: f64 = (0..3).map(|i| self.b[i] * values[i + 1]).sum();
        sum(&self.integrals_with_start(x)) + x.powi(4) * (whole - sum(&self.integrals_with_start(1.0)))
    }
}

impl Coefficients {
    /// Error estimate of an integral over a step of unit size, of what has these values at its start and at its stages, and the largest integral
    /// from the start to a stage.
    pub fn error_of_integral(&self, values: &[f64; 4]) -> (f64, f64) {
        let integrals = self.A * Vector3::new(values[1], values[2], values[3]);
        let sum = values[0] + (0..3).map(|i| self.e[i] * integrals[i]).sum::<f64>();
        (sum / self.real, integrals.amax())
    }
}

/// Right and left eigenvector for an eigenvalue, with product one; the right one is one at the end of the step where it is real.
fn eigenvectors(E: &Matrix3<f64>, value: Complex<f64>) -> (Vector3<Complex<f64>>, Vector3<Complex<f64>>) {
    let null = |E: &Matrix3<f64>| {
        let M = E.map(|x| Complex::new(x, 0.0)) - Matrix3::from_diagonal_element(value);
        let row = |k: usize| M.row(k % 3).transpose();
        let size = |v: &Vector3<Complex<f64>>| v.iter().map(|x| x.norm_sqr()).sum::<f64>();
        // Rows are dependent; the product of the two that differ most is across all of them.
        (0..3).map(|k| row(k).cross(&row(k + 1))).fold(Vector3::zeros(), |a, b| if size(&b) > size(&a) { b } else { a })
    };
    let (x, y) = (null(E), null(&E.transpose()));
    let x = x / x[2];
    let product = x.dot(&y);
    (x, y / product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transformation_makes_the_matrix_diagonal() {
        let k = Coefficients::new();
        let back = |i: usize, j: usize| {
            let real = k.real * k.spread[i] * k.gather[j];
            real + 2.0 * (k.complex * k.spread_complex[i] * k.gather_complex[j]).re
        };
        let one = |i: usize, j: usize| k.spread[i] * k.gather[j] + 2.0 * (k.spread_complex[i] * k.gather_complex[j]).re;
        for i in 0..3 {
            for j in 0..3 {
                assert!((back(i, j) - k.E[(i, j)]).abs() < 1e-13);
                assert!((one(i, j) - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
        assert!(
            (k.real - 3.637834252744496).abs() < 1e-14 && (k.complex - Complex::new(2.681082873627752, 3.050430199247411)).norm() < 1e-14
        );
    }

    #[test]
    fn polynomials_of_their_degree_are_met_exactly() {
        let k = Coefficients::new();
        let f = |x: f64| x * (1.0 - 2.0 * x + 0.7 * x * x);
        let g = |x: f64| 0.3 - x + 2.0 * x * x;
        let sum = |w: [f64; 3], f: &dyn Fn(f64) -> f64| (0..3).map(|i| w[i] * f(k.c[i])).sum::<f64>();
        for x in [-0.4, 0.1, 0.8, 1.7] {
            assert!((sum(k.through_start(x), &f) - f(x)).abs() < 1e-13);
            assert!((sum(k.through_stages(x), &g) - g(x)).abs() < 1e-13);
        }
        // The stages integrate: E times the increments of a cubic are its derivatives.
        let slope = |x: f64| 1.0 - 4.0 * x + 2.1 * x * x;
        for i in 0..3 {
            let d: f64 = (0..3).map(|j| k.E[(i, j)] * f(k.c[j])).sum();
            assert!((d - slope(k.c[i])).abs() < 1e-12);
        }
        // Integrals of a cubic are met inside the step too, and over the whole step those of the method.
        let (values, cubic) =
            ([f(0.0), f(k.c[0]), f(k.c[1]), f(k.c[2])], |x: f64| x * x / 2.0 - 2.0 * x * x * x / 3.0 + 0.7 * x.powi(4) / 4.0);
        for x in [0.0, 0.3, 0.8, 1.0] {
            assert!((k.integral(x, &values) - cubic(x)).abs() < 1e-14);
        }
        let bent = values.map(|x| x.exp());
        let whole: f64 = (0..3).map(|i| k.b[i] * bent[i + 1]).sum();
        assert!((k.integral(1.0, &bent) - whole).abs() < 1e-15);
    }
}
