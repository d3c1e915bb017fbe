//! Robots of many links: the memory for reading and building is a small multiple of the file size, and grows in proportion to it.

use crate::memory;
use fourbar_io::{ReadOptions, read_model};
use std::fmt::Write;

/// A tree of links with masses, shapes, limits and damping.
fn urdf(n: usize) -> String {
    let mut text = String::from("<robot name=\"tree\">\n  <link name=\"link_0\"/>\n");
    for k in 1..=n {
        let (below, x) = ((k - 1) / 3, 0.1 + k as f64 / n as f64);
        let _ = write!(
            text,
            "  <link name=\"link_{k}\">\n    <inertial>\n      <origin xyz=\"{x:.6} 0.123456 -0.2\" rpy=\"0 0 0\"/>\n      <mass value=\"{x:.6}\"/>\n      \
             <inertia ixx=\"1.1\" ixy=\"0\" ixz=\"0\" iyy=\"1.2\" iyz=\"0\" izz=\"1.3\"/>\n    </inertial>\n    <visual>\n      \
             <origin xyz=\"0.1 {x:.6} 0.3\" rpy=\"0 0 0\"/>\n      <geometry>\n        <box size=\"{x:.6} 0.2 0.3\"/>\n      </geometry>\n    \
             </visual>\n  </link>\n  <joint name=\"joint_{k}\" type=\"revolute\">\n    <parent link=\"link_{below}\"/>\n    \
             <child link=\"link_{k}\"/>\n    <origin xyz=\"0.1 0.2 {x:.6}\" rpy=\"0 0 {x:.6}\"/>\n    <axis xyz=\"0 0 1\"/>\n    \
             <limit lower=\"-1.57\" upper=\"1.57\" effort=\"100\" velocity=\"1\"/>\n    <dynamics damping=\"0.1\" friction=\"0\"/>\n  </joint>\n"
        );
    }
    text + "</robot>\n"
}

/// As above, with poses in the model and bounds of efforts.
fn sdf(n: usize) -> String {
    let mut text = String::from(
        "<sdf version=\"1.7\">\n<model name=\"tree\">\n  <link name=\"link_0\"/>\n  \
         <joint name=\"hold\" type=\"fixed\"><parent>world</parent><child>link_0</child></joint>\n",
    );
    for k in 1..=n {
        let (below, x) = ((k - 1) / 3, 0.1 + k as f64 / n as f64);
        let _ = write!(
            text,
            "  <link name=\"link_{k}\">\n    <pose>{x:.6} 0.123456 -0.2 0 0 {x:.6}</pose>\n    <inertial>\n      <mass>{x:.6}</mass>\n      \
             <inertia>\n        <ixx>1.1</ixx>\n        <ixy>0</ixy>\n        <ixz>0</ixz>\n        <iyy>1.2</iyy>\n        <iyz>0</iyz>\n        \
             <izz>1.3</izz>\n      </inertia>\n    </inertial>\n    <visual name=\"look\">\n      <geometry>\n        <box>\n          \
             <size>{x:.6} 0.2 0.3</size>\n        </box>\n      </geometry>\n    </visual>\n  </link>\n  \
             <joint name=\"joint_{k}\" type=\"revolute\">\n    <parent>link_{below}</parent>\n    <child>link_{k}</child>\n    <axis>\n      \
             <xyz>0 0 1</xyz>\n      <limit>\n        <lower>-1.57</lower>\n        <upper>1.57</upper>\n        <effort>10</effort>\n      \
             </limit>\n    </axis>\n  </joint>\n"
        );
    }
    text + "</model>\n</sdf>\n"
}

/// Rows of a hundred bodies with a hinge, a geom, a site and a motor each.
fn mjcf(n: usize) -> String {
    let (mut bodies, mut motors) = (String::new(), String::new());
    for k in 1..=n {
        let x = 0.1 + k as f64 / n as f64;
        let _ = write!(
            bodies,
            "<body name=\"body_{k}\" pos=\"0.1 0.2 {x:.6}\" quat=\"1 0 0 0\">\n  \
             <joint name=\"joint_{k}\" type=\"hinge\" axis=\"0 0 1\" range=\"-1.57 1.57\" damping=\"0.1\"/>\n  \
             <geom name=\"geom_{k}\" type=\"capsule\" size=\"0.04\" fromto=\"0 0 0 0.123456 {x:.6} 0.3\"/>\n  \
             <site name=\"site_{k}\" pos=\"0.1 0.2 {x:.6}\"/>\n"
        );
        if k % 100 == 0 || k == n {
            bodies += &"</body>\n".repeat(if k % 100 == 0 { 100 } else { k % 100 });
        }
        let _ = writeln!(motors, "  <motor name=\"motor_{k}\" joint=\"joint_{k}\" gear=\"10\" ctrlrange=\"-1 1\"/>");
    }
    format!(
        "<mujoco model=\"rows\">\n<compiler angle=\"radian\"/>\n<worldbody>\n{bodies}</worldbody>\n<actuator>\n{motors}</actuator>\n</mujoco>\n"
    )
}

/// Ratio of the largest memory to the size of the text.
fn factor(text: &str) -> f64 {
    memory::start();
    let loaded = read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let model = loaded.spec.build().unwrap_or_else(|e| panic!("{e}"));
    let peak = memory::peak();
    drop((loaded, model));
    peak as f64 / text.len() as f64
}

#[test]
fn memory_for_robots_is_a_small_multiple_of_the_file() {
    type Made = fn(usize) -> String;
    for (name, made, most) in [("URDF", urdf as Made, 8.0), ("SDF", sdf as Made, 8.5), ("MJCF", mjcf as Made, 17.5)] {
        // Powers of two, so that the reserved capacity of lists is the same fraction.
        let [small, large] = [512, 2048].map(|n| factor(&made(n)));
        println!("{name}: {small:.2} and {large:.2} times the file");
        assert!(large < most, "{name}: {large} times the file");
        assert!(large < 1.1 * small, "{name}: {small} times a small file, {large} times a large one");
    }
}
