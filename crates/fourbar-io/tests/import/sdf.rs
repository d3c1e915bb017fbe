//! SDF.

use super::*;

const RING: &str = r#"<sdf version="1.9"><world name="w"><gravity>0 0 -9</gravity><model name="ring"><pose>0 0 1 0 0 0</pose>
  <link name="a"><pose>1 0 0 0 0 1.5707963267948966</pose><inertial><pose>0.5 0 0 0 0 0</pose><mass>2</mass>
    <inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.25</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>
    <visual name="v"><geometry><box><size>1 0.1 0.1</size></box></geometry></visual></link>
  <link name="b"><pose relative_to="a">1 0 0 0 0 -1.5707963267948966</pose></link>
  <link name="c"><pose relative_to="b">1 0 0 0 0 0</pose></link>
  <frame name="tip" attached_to="b"><pose>0 0.5 0 0 0 0</pose></frame>
  <joint name="ja" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz>
    <limit><lower>-1</lower><upper>1e16</upper><effort>5</effort></limit><dynamics><damping>0.5</damping></dynamics></axis></joint>
  <joint name="jb" type="revolute"><parent>a</parent><child>b</child><axis><xyz expressed_in="__model__">0 0 1</xyz></axis></joint>
  <joint name="jc" type="revolute"><parent>b</parent><child>c</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="jd" type="revolute"><pose>0 -1 0 0 0 0</pose><parent>world</parent><child>c</child><axis><xyz>0 0 1</xyz></axis></joint>
</model></world></sdf>"#;

#[test]
fn frames_joints_and_loops_are_where_the_file_puts_them() {
    let loaded = read(RING);
    let m = model(&loaded);
    assert_eq!(m.gravity.z, -9.0);
    // The model stands one metre up; the first link points along y, the others follow it.
    near(body(&m, "a").r, [1.0, 0.5, 1.0]);
    near(body(&m, "b").r, [1.0, 1.0, 1.0]);
    near(body(&m, "c").r, [2.0, 1.0, 1.0]);
    let at = |name: &str| {
        let j = m.joints.iter().find(|j| j.name == name).expect("there");
        let b = &m.bodies[j.bodies[0].index()];
        b.r + b.A * j.F.s
    };
    near(at("jc"), [2.0, 1.0, 1.0]);
    near(at("jd"), [2.0, 0.0, 1.0]);
    // A parallelogram of four hinges in the plane: one freedom, three rows too many.
    assert_eq!(mobility(&m), (1, 3));
    let tip = loaded.spec.points.iter().find(|(n, _)| n == "tip").expect("a frame is a point");
    assert_eq!(tip.1.body, "b");
    assert_eq!(loaded.spec.inputs[0].1.range, [-5.0, 5.0]);
    assert_eq!(loaded.spec.limits[0].0, "ja");
}

#[test]
fn mistakes_are_named_with_their_place() {
    let refused = |from: &str, to: &str| {
        assert!(RING.contains(from));
        let e = read_model(&RING.replace(from, to), &ReadOptions::default()).expect_err("refused");
        assert!(e.cause().line() > 0, "{e}");
        e.code().0
    };
    assert_eq!(refused(r#"relative_to="a""#, r#"relative_to="c""#), "M658");
    assert_eq!(refused(r#"relative_to="a""#, r#"relative_to="x""#), "M655");
    assert_eq!(refused("<child>b</child>", "<child>q</child>"), "M655");
    assert_eq!(refused("<mass>2</mass>", "<mass>inf</mass>"), "M651");
    assert_eq!(refused(r#"name="jc""#, r#"name="jb""#), "M656");
    assert_eq!(refused("<frame name", "<include><uri>model://x</uri></include><frame name"), "M653");
}
