//! Fixed tendons: weighted sums of joint coordinates, on which actuators act.

use super::super::draft::{Acts, Effort};
use super::super::xml::Element;
use super::Mjcf;
use fourbar::Diagnostic;
use std::collections::HashMap;

/// Largest number of terms in all forces of tendons.
const MOST_TERMS: usize = 1_000_000;

/// Joints and their weights.
#[derive(Clone, Debug, Default)]
pub(super) struct Tendon {
    pub terms: Vec<(usize, f64)>,
}

impl<'x> Mjcf<'_, '_, 'x> {
    /// Whether the limit of terms permits a further force on a tendon: it acts on every joint with a formula of all its joints.
    pub(super) fn affords(&self, tendon: &Tendon, e: Element<'x>) -> bool {
        let terms = self.terms.get().saturating_add(tendon.terms.len().saturating_pow(2));
        self.terms.set(terms);
        let good = terms <= MOST_TERMS;
        if !good {
            let d = Diagnostic::new("M652", format!("the forces of tendons have more than {MOST_TERMS} terms, the most that are read"));
            self.reading.problem(d.help("use tendons with fewer joints"), e.spot());
        }
        good
    }

    pub(super) fn read_tendons(&mut self, e: Element<'x>) {
        for t in e.children() {
            t.saw();
            let name = t.word("name").unwrap_or("tendon").to_string();
            let class = self.defaults.class_of(self.reading, t, 0);
            let get = |key: &str| self.defaults.attribute(t, class, &["tendon"], key);
            if t.tag() != "fixed" {
                let d = Diagnostic::new("W450", format!("the spatial tendon `{name}` is not converted")).name(&name);
                self.reading.note(d.help("write it as a rope or spring between two points"), t.spot());
                t.done();
                continue;
            }
            let mut tendon = Tendon::default();
            // Index of each joint in the list; weights of the same joint are added.
            let mut places: HashMap<usize, usize> = HashMap::new();
            for j in t.all("joint") {
                let Some(joint) = self.reading.need(j, "joint").and_then(|a| self.named_joint(a)) else { continue };
                let weight = self.reading.number(self.reading.need(j, "coef"), 0.0);
                if self.draft.joints[joint].turns().is_none() {
                    let of = &self.draft.joints[joint].name;
                    let d = Diagnostic::new("M655", format!("joint `{of}` has no coordinate for the tendon `{name}`")).name(of);
                    self.reading.problem(d.help("tendons hold hinges and slides"), j.spot());
                    continue;
                }
                if let Some(k) = places.get(&joint) {
                    tendon.terms[*k].1 += weight;
                    continue;
                }
                places.insert(joint, tendon.terms.len());
                tendon.terms.push((joint, weight));
            }
            let first = |key: &str| self.first_coefficient(get(key), &name);
            let (stiffness, damping) = (first("stiffness"), first("damping"));
            // By default a tendon is relaxed where the springs of its joints are.
            let at_rest: f64 = tendon.terms.iter().map(|(j, c)| c * self.draft.joints[*j].passive.rest).sum();
            let [low, high] = match get("springlength").and_then(|a| self.reading.numbers(a, 1, 2)).as_deref() {
                None | Some([-1.0] | [-1.0, -1.0]) => [at_rest; 2],
                Some([low, high]) => [*low, *high],
                Some(x) => [x[0]; 2],
            };
            if low > high {
                let d = Diagnostic::new("M651", format!("`springlength` of the tendon `{name}` decreases from {low:?} to {high:?}"))
                    .name(&name);
                self.reading.problem(d.help("write the smaller length first"), t.spot());
            }
            let stiffness = if self.off.springs { 0.0 } else { stiffness };
            let damping = if self.off.dampers { 0.0 } else { damping };
            if (stiffness != 0.0 || damping != 0.0) && self.affords(&tendon, t) {
                let sum = |letter: char| {
                    let terms: Vec<String> = tendon.terms.iter().map(|(j, c)| format!("({c:?})*{letter}{j}")).collect();
                    terms.join("+")
                };
                let length = sum('q');
                // Between the two lengths the tendon is slack.
                let beyond = if low == high {
                    format!("(({length})-({low:?}))")
                } else {
                    format!("(max(({length})-({high:?}),0)+min(({length})-({low:?}),0))")
                };
                let force = format!("-({stiffness:?})*{beyond}-({damping:?})*({})", sum('v'));
                for (joint, weight) in &tendon.terms {
                    let acts = Acts::Joint(*joint, format!("({weight:?})*({force})"));
                    self.draft.efforts.push(Effort { name: format!("{name}_spring"), acts, spot: t.spot() });
                }
            }
            self.tendons.insert(name, tendon);
        }
    }
}
