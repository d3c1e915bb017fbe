//! Contacts in files: every shape is read, written and read again to the same specification, and errors are reported with their location.

use fourbar::spec::{Partners, SideForm};
use fourbar_io::{ReadOptions, read_model, write_model};

const ALL: &str = "
fourbar: 1
parameters: {r: 10 mm}
curves:
  lobe: {points: [[0.05, 0], [0, 0.04], [-0.05, 0], [0, -0.04]], closed: true}
bodies:
  a: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 1]}
  b: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 2]}
  ball1: {mass: 1, inertia: [1, 1, 1], at: [1, 0, 2]}
  ball2: {mass: 1, inertia: [1, 1, 1], at: [2, 0, 2]}
contacts:
  c1: {between: [{body: a, at: [0, 0, 0.1], radius: r}, {plane: {normal: [0, 0, 1]}}], restitution: 0.1, friction: 0.6}
  c2: {between: [{body: a, radius: r}, {body: b, radius: 0.5, inside: true}], stiffness: 1e6, exponent: 1.3, law: flores, speed: 2 m/s}
  c3: {between: [{body: a, axis: [0, 1, 0], radius: 0.2}, {plane: {body: b, at: [0, 0, -0.1], normal: [0, 0, -1]}}], friction: {coulomb: 0.3, static: 0.4}}
  c4: {between: [{body: a, corners: [[0.1, 0, 0], [0, 0.1, 0]], radius: 1 mm}, {plane: {}}]}
  c5: {between: [{body: a, box: [0.1, 0.2, 0.3], at: [0, 0, 0.1]}, {body: ground, box: [4, 4, 4], inside: true}]}
  c6: {between: [{body: a, polygon: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]]}, {body: b, polygon: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]]}]}
  c7: {between: [{body: a, radius: r}, {body: b, curve: lobe, side: right, depth: 3 mm}], stiffness: 1e5}
  c8: {between: [{bodies: [a, ball*], radius: r}, {plane: {}}], stiffness: 1e5, law: exact}
  c9: {among: [ball*, a], at: [0, 0, 0.01], radius: r, friction: 0.2}
";

#[test]
fn contacts_of_every_shape_are_read_written_and_read_again() {
    let first = read_model(ALL, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}")).spec;
    let text = write_model(&first);
    let second = read_model(&text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}\n{text}")).spec;
    assert_eq!(first.contacts, second.contacts, "{text}");
    assert_eq!(first.contacts.len(), 9);
    let model = first.build().unwrap_or_else(|e| panic!("{e}"));
    // Compliant contacts are forces, rigid ones are not.
    assert_eq!((model.forces.len(), model.contacts.len()), (3, 6));
    let Partners::Between(sides) = &first.contacts[0].1.partners else { panic!("between") };
    assert_eq!(sides[1].bodies, ["ground"]);
    assert!(matches!(sides[0].form, SideForm::Ball { radius, .. } if radius == 0.01));
}

#[test]
fn mistakes_in_contacts_are_told_with_their_place() {
    let head = "fourbar: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}\ncontacts:\n  c: ";
    for (contact, code) in [
        ("{between: [{body: a, radius: 0.1}]}", "M017"),
        ("{between: [{body: a, radius: 0.1, corners: [[0, 0, 0]], box: [1, 1, 1]}, {plane: {}}]}", ""),
        ("{between: [{body: a, radius: 0.1, depth: 1}, {plane: {}}]}", ""),
        ("{between: [{body: a, radius: 0.1}, {plane: {}}], radius: 0.1}", ""),
        ("{between: [{radius: 0.1}, {plane: {}}]}", "M013"),
        ("{between: [{body: a, axis: [0, 0, 1]}, {plane: {}}]}", "M013"),
        ("{among: ['*']}", "M013"),
        ("{between: [{body: a, radius: 0.1}, {plane: {}}], law: hertz, stiffness: 1}", ""),
        ("{between: [{body: a, radius: 2 kg}, {plane: {}}]}", ""),
        ("{betwen: [{body: a, radius: 0.1}, {plane: {}}]}", "M012"),
    ] {
        let text = format!("{head}{contact}\n");
        let error = read_model(&text, &ReadOptions::default()).expect_err(contact);
        if !code.is_empty() {
            assert_eq!(error.code().to_string(), code, "{contact}: {error}");
        }
    }
}
