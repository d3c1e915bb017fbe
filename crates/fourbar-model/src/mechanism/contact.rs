//! Contacts.

use super::Mechanism;
use crate::spec::ContactSpec;

impl<L> Mechanism<L> {
    /// Bodies that may touch: rigid, or with a stiffness compliant.
    ///
    /// ```
    /// use fourbar_model::mechanism::{Body, Mechanism};
    /// use fourbar_model::spec::{ContactSpec, SideSpec};
    /// let floor = SideSpec::plane("ground", [0.0; 3], [0.0, 0.0, 1.0]);
    /// let touch = ContactSpec::between(SideSpec::ball("ball", [0.0; 3], 0.1), floor).stiffness(1e6).restitution(0.5);
    /// let model = Mechanism::new().gravity([0.0, 0.0, -9.81]).body("ball", Body::new().at([0.0, 0.0, 1.0])).contact("floor", touch).build()?;
    /// assert_eq!(model.forces.len(), 1);
    /// # Ok::<(), fourbar_model::Error>(())
    /// ```
    pub fn contact(self, name: impl Into<String>, contact: ContactSpec) -> Mechanism {
        self.stated(|s| s.contacts.push((name.into(), contact)))
    }
}
