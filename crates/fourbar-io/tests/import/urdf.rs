//! URDF.

use super::*;
use fourbar::spec::{ForceSpec, JointSpec};

const ARM: &str = r#"<?xml version="1.0"?>
<robot name="arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0.5 0 0" rpy="0 1.5707963267948966 0"/><geometry><cylinder radius="0.05" length="1"/></geometry></visual>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <link name="tool">
    <inertial><origin xyz="0 0 0" rpy="0 0 1.5707963267948966"/><mass value="1"/>
      <inertia ixx="0.3" iyy="0.1" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="lower">
    <inertial><origin xyz="0 0 -0.25"/><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="10" velocity="3"/><dynamics damping="0.25"/>
  </joint>
  <joint name="mount" type="fixed"><origin xyz="1 0 0"/><parent link="upper"/><child link="tool"/></joint>
  <joint name="elbow" type="continuous">
    <origin xyz="1 0 0"/><parent link="upper"/><child link="lower"/><axis xyz="0 0 2"/>
    <mimic joint="shoulder" multiplier="-2" offset="0.5"/>
  </joint>
  <transmission name="drive1"><type>SimpleTransmission</type><joint name="shoulder"/>
    <actuator name="motor1"><mechanicalReduction>5</mechanicalReduction></actuator></transmission>
</robot>"#;

#[test]
fn links_joints_and_welds_are_where_the_file_puts_them() {
    let loaded = read(ARM);
    assert_eq!(loaded.imported, Some("urdf"));
    let m = model(&loaded);
    assert_eq!(m.bodies.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(), ["ground", "upper", "lower"]);
    let upper = body(&m, "upper");
    // 2 kg at half the length and 1 kg at the end; the arm is along the world's y.
    assert_eq!(upper.mass, 3.0);
    near(upper.r, [0.0, 2.0 / 3.0, 1.0]);
    // About the centre: 2 kg at 1/6 m and 1 kg at 1/3 m from it; the tool is rotated by a quarter turn, so x and y are exchanged.
    let far = 2.0 / 36.0 + 1.0 / 9.0;
    let local = Matrix3::from_diagonal(&Vector3::new(0.01 + 0.1, 0.2 + 0.3 + far, 0.2 + 0.2 + far));
    let turn = Matrix3::new(0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0);
    assert!((inertia(upper) - turn * local * turn.transpose()).amax() < 1e-15);
    // The mimic joint is drawn at its coupled position: 0.5 rad about the world's z, with its centre below the elbow.
    near(body(&m, "lower").r, [0.0, 1.0, 0.75]);
    let x = body(&m, "lower").A * Vector3::x();
    near(x, [-(0.5f64.sin()), 0.5f64.cos(), 0.0]);
    let tool = loaded.spec.points.iter().find(|(n, _)| n == "tool").expect("a link that was welded is a point");
    assert_eq!(tool.1.body, "upper");
    assert_eq!(m.gravity, Vector3::new(0.0, 0.0, -9.81));
    let (name, limits) = &loaded.spec.limits[0];
    assert_eq!((name.as_str(), limits.min, limits.max, limits.restitution), ("shoulder", Some(-1.0), Some(2.0), None));
    assert_eq!(mobility(&m), (1, 0));
}

#[test]
fn what_is_not_carried_over_is_said_with_its_place() {
    let loaded = read(ARM);
    let list = codes(&loaded);
    assert!(list.contains(&"W451") && !list.contains(&"W452"), "{list:?}");
    let left = |word: &str| loaded.warnings.iter().find(|w| w.code.0 == "W450" && w.message.contains(word));
    assert!(left("`collision`").is_some_and(|w| w.line() == 8), "{:?}", loaded.warnings);
    assert!(left("`velocity` of `limit`").is_some());
    assert!(left("material").is_none() && left("mimic").is_none());
}

#[test]
fn dampers_and_motors_become_forces_and_inputs() {
    let spec = read(ARM).spec;
    let (name, input) = &spec.inputs[0];
    // Ten newton metres at the joint are two at the motor.
    assert_eq!((name.as_str(), input.unit.as_str(), input.range), ("motor1", "N*m", [-2.0, 2.0]));
    let damper = spec.forces.iter().find_map(|(_, f)| if let ForceSpec::Torsion(t) = f { Some(t) } else { None });
    assert_eq!(damper.expect("a damper").joint, "shoulder");
    assert!(spec.joints.iter().any(|(_, j)| matches!(j, JointSpec::Gear { ratio, .. } if *ratio == -2.0)));
}

#[test]
fn a_mimic_joint_moves_as_its_multiplier_says() {
    let m = model(&read(ARM));
    let t = motion(&m, 0.2);
    let (shoulder, elbow) = (last(&t, "shoulder.angle"), last(&t, "elbow.angle"));
    assert!(shoulder > 0.01, "{shoulder}");
    // The coordinate is measured from the offset of 0.5 rad between the bodies.
    assert!((elbow + 2.0 * shoulder).abs() < 1e-8, "{elbow} {shoulder}");
    let between: f64 = (0..4).map(|k| last(&t, &format!("upper.p.{k}")) * last(&t, &format!("lower.p.{k}"))).sum();
    assert!((between.abs() - (0.25 - shoulder).cos()).abs() < 1e-8, "{between}");
}

/// A four-bar of lengths 1, 2, 2 and 2 between pivots: the coupler and the rocker end meet where the side file closes the loop.
const RING: &str = r#"<robot name="ring">
  <link name="base"><inertial><mass value="1"/></inertial></link>
  <link name="crank"><inertial><origin xyz="0.5 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="coupler"><inertial><origin xyz="1 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="rocker"><inertial><origin xyz="1 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="tip_a"/><link name="tip_b"/>
  <joint name="j1" type="continuous"><origin rpy="0 0 1.2"/><parent link="base"/><child link="crank"/><axis xyz="0 0 1"/></joint>
  <joint name="j2" type="continuous"><origin xyz="1 0 0" rpy="0 0 -1"/><parent link="crank"/><child link="coupler"/><axis xyz="0 0 1"/></joint>
  <joint name="j3" type="continuous"><origin xyz="2 0 0" rpy="0 0 1.5"/><parent link="base"/><child link="rocker"/><axis xyz="0 0 1"/></joint>
  <joint name="end_a" type="fixed"><origin xyz="2 0 0"/><parent link="coupler"/><child link="tip_a"/></joint>
  <joint name="end_b" type="fixed"><origin xyz="2 0 0"/><parent link="rocker"/><child link="tip_b"/></joint>
</robot>"#;

#[test]
fn a_side_file_closes_loops_and_names_motors() {
    let side = "closed_loop: [['end_a', 'tip_b']]\ntype: ['3d']\nname_mot: ['j1']\n";
    let folder = Folder::new("side", &[("ring.urdf", RING), ("ring.yaml", side)]);
    let loaded = read_file(&folder.0.join("ring.urdf"));
    let m = model(&loaded);
    // A ball closes the plane loop: one degree of freedom, and two rows fewer than with a hinge.
    assert_eq!(mobility(&m), (1, 1));
    let start = assembly::assemble(&m).expect("closes").configuration;
    let at = |k: usize, x: f64| start.q[k].r + start.q[k].A * (Vector3::new(x, 0.0, 0.0) - m.bodies[k].com);
    let find = |n: &str| m.bodies.iter().position(|b| b.name == n).expect("there");
    assert!((at(find("coupler"), 2.0) - at(find("rocker"), 2.0)).norm() < 1e-9);
    assert_eq!(loaded.spec.inputs[0].0, "j1_effort");
    // The stored text needs no side file.
    let kept = read_model(loaded.places.source(), &ReadOptions::default()).expect("good");
    assert_eq!((kept.spec, kept.hash), (loaded.spec.clone(), loaded.hash.clone()));
    let wrong = Folder::new("wrong", &[("ring.urdf", RING), ("ring.yaml", "closed_loop: [[end_a, nowhere]]\n")]);
    let e = read_model_file(&wrong.0.join("ring.urdf"), &[]).expect_err("refused");
    assert_eq!(e.code().0, "M661");
    assert_eq!(e.cause().line(), 1);
    assert!(e.cause().place.as_ref().and_then(|p| p.file.as_deref()).is_some_and(|f| f.ends_with("ring.yaml")));
}

#[test]
fn a_joint_inside_gazebo_closes_a_loop() {
    let extra = r#"<gazebo><joint name="loop" type="ball"><parent>coupler</parent><child>rocker</child><pose>2 0 0 0 0 0</pose></joint></gazebo></robot>"#;
    let m = model(&read(&RING.replace("</robot>", extra)));
    assert_eq!(m.joints.iter().filter(|j| j.kind.name() == "spherical").count(), 1);
}

#[test]
fn mistakes_are_named_with_their_place() {
    let refused = |from: &str, to: &str| {
        assert!(ARM.contains(from));
        let e = read_model(&ARM.replace(from, to), &ReadOptions::default()).expect_err("refused");
        assert!(e.cause().line() > 0, "{e}");
        (e.code().0, e.cause().message.clone())
    };
    assert_eq!(refused(r#"<parent link="base"/>"#, r#"<parent link="bse"/>"#).0, "M655");
    assert_eq!(refused(r#"type="continuous""#, r#"type="hinge""#).0, "M655");
    assert_eq!(refused(r#"name="lower""#, r#"name="upper""#).0, "M656");
    assert_eq!(refused(r#"<mass value="2"/>"#, r#"<mass value="two"/>"#).0, "M651");
    assert_eq!(refused(r#"<mass value="2"/>"#, r#"<mass value="nan"/>"#).0, "M651");
    assert_eq!(refused(r#"<mass value="2"/>"#, r#"<mass value="-2"/>"#).0, "M651");
    assert_eq!(refused(r#"xyz="0 0 2""#, r#"xyz="0 0 0""#).0, "M651");
    assert_eq!(refused(r#"<child link="lower"/>"#, "").0, "M654");
    assert_eq!(refused(r#"<child link="lower"/>"#, r#"<child link="tool"/>"#).0, "M658");
    assert_eq!(refused(r#"<parent link="base"/>"#, r#"<parent link="lower"/>"#).0, "M658");
    assert_eq!(refused(r#"mimic joint="shoulder""#, r#"mimic joint="elbow""#).0, "M658");
    assert_eq!(refused("</robot>", "").0, "M650");
    let text = ARM.replace("<robot ", "<machine ").replace("</robot>", "</machine>");
    assert_eq!(read_model(&text, &ReadOptions::default()).expect_err("refused").code().0, "M659");
}

#[test]
fn a_world_that_is_not_declared_is_the_ground() {
    let robot = |world: &str| {
        format!(
            "<robot name='p'>{world}<link name='a'><inertial><origin xyz='1 0 0'/><mass value='1'/></inertial></link>\
             <joint name='j' type='continuous'><parent link='world'/><child link='a'/><origin xyz='0 0 2'/><axis xyz='0 1 0'/></joint></robot>"
        )
    };
    let (declared, not) = (read(&robot("<link name='world'/>")), read(&robot("")));
    assert_eq!(declared.spec, not.spec);
    assert_eq!(mobility(&model(&not)), (1, 0));
    near(body(&model(&not), "a").r, [1.0, 0.0, 2.0]);
}

#[test]
fn what_follows_a_fixed_joint_is_fixed_at_its_offset() {
    let link = |name: &str| format!("<link name='{name}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>");
    let text = format!(
        "<robot name='r'><link name='a'/>{}{}{}<joint name='f' type='fixed'><parent link='a'/><child link='b'/></joint><joint name='s' type='prismatic'><parent link='b'/><child link='c'/><axis xyz='1 0 0'/><limit lower='0' upper='1' effort='1' velocity='1'/><mimic joint='f' multiplier='3' offset='0.25'/></joint><joint name='h' type='continuous'><parent link='c'/><child link='d'/></joint></robot>",
        link("b"),
        link("c"),
        link("d")
    );
    let loaded = read(&text);
    let m = model(&loaded);
    assert_eq!((m.bodies.len(), m.joints.len()), (2, 1));
    near(body(&m, "d").r, [0.25, 0.0, 0.0]);
    assert!(codes(&loaded).contains(&"W457"));
    let none = read_model("<robot name='r'></robot>", &ReadOptions::default()).expect_err("refused");
    assert!(none.to_string().contains("no links"), "{none}");
}

#[test]
fn an_inertia_of_rounding_alone_is_that_of_a_point() {
    let text = "<robot name='r'><link name='a'/><link name='b'><inertial><origin xyz='0 0 -1'/><mass value='2'/><inertia ixx='2.7e-20' ixy='-1.7e-21' ixz='1.3e-20' iyy='5.4e-20' iyz='3e-21' izz='1.3e-20'/></inertial></link><joint name='h' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 1 0'/></joint></robot>";
    let loaded = read(text);
    assert_eq!(loaded.spec.bodies[0].1.inertia, fourbar::spec::Inertia::Point);
    assert!(loaded.warnings.iter().any(|w| w.code.0 == "W451" && w.names.contains(&"b".to_string())));
    assert!(mobility(&model(&loaded)) == (1, 0));
}

#[test]
fn a_motor_on_a_joint_that_is_not_there_is_listed_and_messages_have_one_order() {
    let joints: String = (0..9).map(|k| format!("<link name='l{k}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link><joint name='joint_{k}' type='continuous'><parent link='a'/><child link='l{k}'/></joint>")).collect();
    let text = |more: &str| format!("<robot name='r'><link name='a'/>{joints}{more}</robot>");
    let loaded = read(&text("<transmission name='t'><type>x</type><joint name='other'/><actuator name='m'/></transmission>"));
    assert!(loaded.spec.inputs.is_empty() && loaded.warnings.iter().any(|w| w.code.0 == "W450" && w.names.contains(&"t".to_string())));
    let wrong = text(
        "<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link><joint name='follower' type='continuous'><parent link='a'/><child link='b'/><mimic joint='xxxxxxxx'/></joint>",
    );
    let said: Vec<String> = (0..5).map(|_| read_model(&wrong, &ReadOptions::default()).expect_err("refused").to_string()).collect();
    assert!(said[0].contains("`joint_0`, `joint_1`, `joint_2`") && said.iter().all(|s| *s == said[0]), "{}", said[0]);
}

/// A largest effort without a motor and missing bounds are reported.
#[test]
fn limits_that_bound_nothing_are_told() {
    let text = |limit: &str, more: &str| {
        format!(
            "<robot name='r'><link name='world'/><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>\
             <joint name='j' type='revolute'><parent link='world'/><child link='a'/><axis xyz='0 0 1'/>{limit}</joint>{more}</robot>"
        )
    };
    let motor = "<transmission name='m'><joint name='j'/><actuator name='m'/></transmission>";
    for (limit, more, expected) in [
        ("<limit lower='-1' upper='1' effort='5' velocity='1'/>", motor, vec![]),
        ("<limit lower='-1' upper='1' effort='5' velocity='1'/>", "", vec!["W450"]),
        ("<limit lower='-1' upper='1' effort='1e6' velocity='1e6'/>", "", vec![]),
        ("<limit effort='5' velocity='1'/>", motor, vec!["W451"]),
    ] {
        let loaded = read(&text(limit, more));
        let own = |w: &&fourbar::Diagnostic| w.message.contains("largest effort") || w.message.contains("without limits");
        let told: Vec<&str> = loaded.warnings.iter().filter(own).map(|w| w.code.0).collect();
        assert_eq!(told, expected, "{limit} {more}");
    }
}
