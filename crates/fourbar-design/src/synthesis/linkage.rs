//! A planar four-bar linkage: positions, range, transmission angle, cognates, and its mechanism file.

use super::Complex;
use std::f64::consts::TAU;

/// A planar four-bar linkage with a point on its coupler, lengths in metres.
#[derive(Clone, Debug, PartialEq)]
pub struct FourBar {
    /// Fixed pins: of the crank, of the rocker.
    pub ground: [Complex; 2],
    /// Length of the crank.
    pub crank: f64,
    /// Length of the coupler between its pins.
    pub coupler: f64,
    /// Length of the rocker.
    pub rocker: f64,
    /// The coupler point, from the crank's pin along and across the coupler.
    pub point: Complex,
    /// +1: the pin of the rocker is to the left of the line from the crank's moving pin to the rocker's fixed pin; -1: to the right.
    pub mode: f64,
}

/// Where everything is at a crank angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Moving pin of the crank.
    pub A: Complex,
    /// Moving pin of the rocker.
    pub B: Complex,
    /// The coupler point.
    pub P: Complex,
}

impl FourBar {
    /// Distance of the fixed pins.
    pub fn base(&self) -> f64 {
        (self.ground[1] - self.ground[0]).abs()
    }

    /// The position at a crank angle, against the x axis of the world; `None` where the linkage cannot be closed.
    pub fn position(&self, crank: f64) -> Option<Position> {
        let A = self.ground[0] + Complex::at(crank).scaled(self.crank);
        let d = self.ground[1] - A;
        let (d2, length) = (d.square(), d.abs());
        let x = (self.coupler * self.coupler - self.rocker * self.rocker + d2) / (2.0 * length);
        let h2 = self.coupler * self.coupler - x * x;
        if !(h2 >= 0.0 && length > 0.0) {
            return None;
        }
        let u = (Complex::new(x, self.mode * h2.sqrt()) * d).scaled(1.0 / (length * self.coupler));
        Some(Position { A, B: A + u.scaled(self.coupler), P: A + u * self.point })
    }

    /// Whether the crank turns all the way round: it and another link are together no longer than the other two.
    pub fn crank_turns(&self) -> bool {
        let mut links = [self.base(), self.crank, self.coupler, self.rocker];
        links.sort_by(f64::total_cmp);
        links[0] + links[3] <= links[1] + links[2] && (self.crank <= links[0] || self.base() <= links[0])
    }

    /// The smallest angle between coupler and rocker, from 0 to 90 degrees in radians, over a whole turn of the crank or what it can do of
    /// one: what is far from 90 degrees pushes badly.
    pub fn transmission(&self) -> f64 {
        let mut least = std::f64::consts::FRAC_PI_2;
        for k in 0..720 {
            let Some(p) = self.position(TAU * k as f64 / 720.0) else { return 0.0 };
            let (c, r) = (p.B - p.A, p.B - self.ground[1]);
            let angle = c.cross(r).abs().atan2((c.re * r.re + c.im * r.im).abs());
            least = least.min(angle);
        }
        least
    }

    /// The other two linkages whose coupler point draws the same curve (Roberts and Chebyshev); `None` where this one closes nowhere.
    ///
    /// With the triangle of the coupler `z = (P - A)/(B - A)` the third fixed pin is `O3 = O1 + z (O2 - O1)`. Since `z (B - A) = P - A`,
    /// `O3 = D + z (A - O1) + z (O2 - B)` with `D = O1 + (P - A)`: links of lengths `|P - A|`, `|z|` crank and `|z|` rocker close between `O1`
    /// and `O3`, and `P` is fixed to the middle one. The other cognate comes in the same way from `B` and `1 - z`; its link at `O3` turns as
    /// the crank does, so that it is its crank.
    pub fn cognates(&self) -> Option<[FourBar; 2]> {
        let one = Complex::new(1.0, 0.0);
        let z = self.point.scaled(1.0 / self.coupler);
        let rest = one - z;
        let [O1, O2] = self.ground;
        let O3 = O1 + z * (O2 - O1);
        let at = (0..360).find_map(|k| self.position(TAU * k as f64 / 360.0))?;
        if z.abs() < 1e-12 || rest.abs() < 1e-12 {
            return None;
        }
        let side = |d: Complex, u: Complex| if d.cross(u) >= 0.0 { 1.0 } else { -1.0 };
        let D = O1 + at.P - at.A;
        let E = D + z * (at.A - O1);
        let left = Self {
            ground: [O1, O3],
            crank: self.point.abs(),
            coupler: z.abs() * self.crank,
            rocker: z.abs() * self.rocker,
            point: one.over(z).scaled(z.abs() * self.crank),
            mode: side(O3 - D, E - D),
        };
        let D = O2 + at.P - at.B;
        let E = D + rest * (at.B - O2);
        let coupler = rest.abs() * self.rocker;
        let right = Self {
            ground: [O3, O2],
            crank: rest.abs() * self.crank,
            coupler,
            rocker: rest.abs() * self.coupler,
            point: (one - one.over(rest)).scaled(coupler),
            mode: side(O2 - E, D - E),
        };
        Some([right, left])
    }

    /// The mechanism file of the linkage, driven by its crank from an angle, one turn in a second.
    pub fn file(&self, title: &str, start: f64) -> String {
        let turn = (self.ground[1] - self.ground[0]).arg();
        let n = |x: f64| format!("{x:?}");
        let sign = if self.mode > 0.0 { "" } else { "-" };
        format!(
            "# {title}: found by `fourbar synthesize`.\n\
             fourbar: 1\n\
             title: {title}\n\
             parameters:\n\
             \x20 ground_x: {gx}                  # fixed pin of the crank, metres\n\
             \x20 ground_y: {gy}\n\
             \x20 ground_length: {base}\n\
             \x20 tilt: {turn}                    # of the line of the fixed pins, rad\n\
             \x20 crank_length: {crank}\n\
             \x20 coupler_length: {coupler}\n\
             \x20 rocker_length: {rocker}\n\
             \x20 Px: {px}                        # the coupler point, along and across the coupler\n\
             \x20 Py: {py}\n\
             \x20 turn: 2*pi                      # speed of the crank, rad/s\n\
             \x20 start: {start}                  # crank angle as drawn, rad\n\
             \x20 bar: 1                          # kg per metre of bar\n\
             \x20 Cx: ground_x + ground_length*cos(tilt)\n\
             \x20 Cy: ground_y + ground_length*sin(tilt)\n\
             \x20 Ax: ground_x + crank_length*cos(start)\n\
             \x20 Ay: ground_y + crank_length*sin(start)\n\
             \x20 reach: sqrt((Cx - Ax)^2 + (Cy - Ay)^2)\n\
             \x20 along: (reach^2 + coupler_length^2 - rocker_length^2)/(2*reach)\n\
             \x20 across: {sign}sqrt(coupler_length^2 - along^2)\n\
             \x20 Bx: Ax + (along*(Cx - Ax) - across*(Cy - Ay))/reach\n\
             \x20 By: Ay + (along*(Cy - Ay) + across*(Cx - Ax))/reach\n\
             \x20 coupler_angle: atan2(By - Ay, Bx - Ax)\n\
             \x20 rocker_angle: atan2(By - Cy, Bx - Cx)\n\
             gravity: [0, -9.81, 0]\n\
             bodies:\n\
             \x20 crank: {{mass: bar*crank_length, inertia: [bar*crank_length^3/300, bar*crank_length^3/12, bar*crank_length^3/12], at: [ground_x, ground_y, 0], orientation: {{axis: [0, 0, 1], angle: start}}, com: [crank_length/2, 0, 0]}}\n\
             \x20 coupler: {{mass: bar*coupler_length, inertia: [bar*coupler_length^3/300, bar*coupler_length^3/12, bar*coupler_length^3/12], at: [Ax, Ay, 0], orientation: {{axis: [0, 0, 1], angle: coupler_angle}}, com: [coupler_length/2, 0, 0]}}\n\
             \x20 rocker: {{mass: bar*rocker_length, inertia: [bar*rocker_length^3/300, bar*rocker_length^3/12, bar*rocker_length^3/12], at: [Cx, Cy, 0], orientation: {{axis: [0, 0, 1], angle: rocker_angle}}, com: [rocker_length/2, 0, 0]}}\n\
             joints:\n\
             \x20 O: {{type: revolute, bodies: [ground, crank], at: [ground_x, ground_y, 0], axis: [0, 0, 1]}}\n\
             \x20 A: {{type: revolute, bodies: [crank, coupler], at: [Ax, Ay, 0], axis: [0, 0, 1]}}\n\
             \x20 B: {{type: revolute, bodies: [coupler, rocker], at: [Bx, By, 0], axis: [0, 0, 1]}}\n\
             \x20 C: {{type: revolute, bodies: [ground, rocker], at: [Cx, Cy, 0], axis: [0, 0, 1]}}\n\
             drives:\n\
             \x20 motor: {{joint: O, angle: turn*t}}\n\
             points:\n\
             \x20 P: {{body: coupler, at: [Px, Py, 0]}}\n\
             study: {{analysis: kinematics, t_end: 1, output_step: 5 ms}}\n\
             view: {{trace: [P]}}\n",
            gx = n(self.ground[0].re),
            gy = n(self.ground[0].im),
            base = n(self.base()),
            turn = n(turn),
            crank = n(self.crank),
            coupler = n(self.coupler),
            rocker = n(self.rocker),
            px = n(self.point.re),
            py = n(self.point.im),
            start = n(start),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linkage() -> FourBar {
        FourBar {
            ground: [Complex::new(0.2, 0.1), Complex::new(1.2, 0.4)],
            crank: 0.42,
            coupler: 0.91,
            rocker: 0.6,
            point: Complex::new(0.37, 0.4),
            mode: 1.0,
        }
    }

    #[test]
    fn links_keep_their_lengths() {
        let l = linkage();
        for k in 0..50 {
            let p = l.position(0.13 * k as f64).expect("it is a crank-rocker");
            assert!(((p.A - l.ground[0]).abs() - l.crank).abs() < 1e-14);
            assert!(((p.B - p.A).abs() - l.coupler).abs() < 1e-14);
            assert!(((p.B - l.ground[1]).abs() - l.rocker).abs() < 1e-14);
            assert!(((p.P - p.A).abs() - l.point.abs()).abs() < 1e-14);
        }
        assert!(l.crank_turns());
    }

    #[test]
    fn cognates_draw_the_same_curve() {
        for mode in [1.0, -1.0] {
            let l = FourBar { mode, ..linkage() };
            let [right, left] = l.cognates().expect("there are two");
            let curve: Vec<Complex> = (0..7200).filter_map(|k| l.position(TAU * k as f64 / 7200.0)).map(|p| p.P).collect();
            let off = |p: Complex| curve.iter().map(|q| (p - *q).abs()).fold(f64::INFINITY, f64::min);
            let mut seen = 0;
            for k in 0..90 {
                let angle = TAU * k as f64 / 90.0;
                let p = right.position(angle).expect("its crank turns as the first one");
                assert!(off(p.P) < 1e-3, "{angle}: {}", off(p.P));
                // The curve of the other one may close in either mode.
                let both = [1.0, -1.0].map(|mode| FourBar { mode, ..left.clone() }.position(angle).map(|p| off(p.P)));
                if let [Some(a), Some(b)] = both {
                    seen += usize::from(a.min(b) < 1e-3);
                }
            }
            assert!(seen > 5, "{seen}");
        }
    }
}
