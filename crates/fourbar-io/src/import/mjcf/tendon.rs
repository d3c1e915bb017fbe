//! Fixed tendons: weighted sums of joint coordinates, on which actuators pull.

use super::super::draft::{Acts, Effort};
use super::super::xml::Element;
use super::Mjcf;
use fourbar::Diagnostic;

/// Joints and their weights.
#[derive(Clone, Debug, Default)]
pub(super) struct Tendon {
    pub terms: Vec<(usize, f64)>,
}

impl<'x> Mjcf<'_, '_, 'x> {
    pub(super) fn read_tendons(&mut self, e: Element<'x>) {
        for t in e.children() {
            t.saw();
            let name = t.word("name").unwrap_or("tendon").to_string();
            let class = self.defaults.class_of(self.reading, t, 0);
            let get = |key: &str| self.defaults.attribute(t, class, &["tendon"], key);
            if t.tag() != "fixed" {
                let d = Diagnostic::new("W450", format!("the spatial tendon `{name}` is not carried over")).name(&name);
                self.reading.note(d.help("write it as a rope or spring between two points"), t.spot());
                t.done();
                continue;
            }
            let mut tendon = Tendon::default();
            for j in t.all("joint") {
                let Some(joint) = self.reading.need(j, "joint").and_then(|a| self.named_joint(a)) else { continue };
                let weight = self.reading.number(self.reading.need(j, "coef"), 0.0);
                tendon.terms.push((joint, weight));
            }
            let first = |key: &str| self.first_coefficient(get(key), &name);
            let (stiffness, damping) = (first("stiffness"), first("damping"));
            // Without a length of its own a tendon is at rest as drawn.
            let drawn: f64 = tendon.terms.iter().map(|(j, c)| c * self.reference[*j]).sum();
            if let Some((a, x)) = get("springlength").and_then(|a| Some((a, self.reading.numbers(a, 1, 2)?)))
                && x.len() == 2
                && x[0] != x[1]
            {
                let message =
                    format!("the tendon `{name}` is slack from {:?} to {:?}, and is carried over with one length at rest", x[0], x[1]);
                let d = Diagnostic::new("W450", message).name(&name);
                self.reading.note(d.help("write it as a force with an expression"), a.spot);
            }
            let rest =
                get("springlength").and_then(|a| self.reading.numbers(a, 1, 2)).map_or(drawn, |x| if x[0] < 0.0 { drawn } else { x[0] });
            if stiffness != 0.0 || damping != 0.0 {
                let sum = |letter: char| {
                    let terms: Vec<String> = tendon.terms.iter().map(|(j, c)| format!("({c:?})*{letter}{j}")).collect();
                    terms.join("+")
                };
                let force = format!("-({stiffness:?})*(({})-({rest:?}))-({damping:?})*({})", sum('q'), sum('v'));
                for (joint, weight) in &tendon.terms {
                    let acts = Acts::Joint(*joint, format!("({weight:?})*({force})"));
                    self.draft.efforts.push(Effort { name: format!("{name}_spring"), acts, spot: t.spot() });
                }
            }
            self.tendons.insert(name, tendon);
        }
    }
}
