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
    // The model is one metre above the origin; the first link is along y, the others follow it.
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
    // A parallelogram of four hinges in the plane: one degree of freedom, three redundant rows.
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

#[test]
fn frames_without_a_link_of_their_own_move_with_the_model() {
    // A frame without attachment belongs to the first link, or to the canonical link of the model; the reference frame of its pose does not
    // affect this.
    let text = |model: &str, joint: &str| {
        format!(
            "<sdf version='1.9'><world name='w'><model name='m' {model}><frame name='f'><pose>1 2 3 0 0 1.5707963267948966</pose></frame>\
             <frame name='g'><pose relative_to='b'>0 0 1 0 0 0</pose></frame>\
             <link name='a'/><link name='b'><pose relative_to='f'>1 0 0 0 0 0</pose></link>\
             <joint name='j' type='revolute'><parent>{joint}</parent><child>b</child></joint></model></world></sdf>"
        )
    };
    for (attributes, base) in [("", "a"), ("canonical_link='a'", "a")] {
        for joint in ["f", "g", "a", "__model__"] {
            let loaded = read(&text(attributes, joint));
            // A frame drawn on one link but attached to another may be a mistake, which is reported.
            let told: Vec<_> =
                loaded.warnings.iter().map(|w| (w.code.0, w.message.contains("`g`") && w.help.contains("attached_to"))).collect();
            assert_eq!(told, [("W451", true)], "{:?}", loaded.warnings);
            let m = model(&loaded);
            let j = &m.joints[0];
            assert_eq!((m.bodies[j.bodies[0].index()].name.as_str(), m.bodies[j.bodies[1].index()].name.as_str()), (base, "b"));
            near(body(&m, "b").r, [1.0, 3.0, 3.0]);
        }
    }
    let points = read(&text("", "a")).spec.points;
    assert!(points.iter().all(|(_, p)| p.body == "a"), "{points:?}");
    // A model may be placed by one of its frames.
    let m = model(&read(&text("placement_frame='f'", "a")));
    near(body(&m, "b").r, [1.0, 0.0, 0.0]);
    for attributes in ["canonical_link='x'", "placement_frame='x'"] {
        let e = read_model(&text(attributes, "a"), &ReadOptions::default()).expect_err("refused");
        assert_eq!(e.code().0, "M655");
    }
}

#[test]
fn what_acts_on_one_axis_of_two_is_listed() {
    let text = "<sdf version='1.9'><world name='w'><model name='m'><link name='a'/><joint name='j' type='universal'><parent>world</parent><child>a</child>\
        <axis><xyz>1 0 0</xyz><limit><lower>-1</lower><upper>1</upper></limit><dynamics><damping>3</damping></dynamics></axis>\
        <axis2><xyz>0 1 0</xyz><dynamics><damping>3</damping></dynamics></axis2></joint></model></world></sdf>";
    let loaded = read(text);
    assert!(loaded.spec.forces.is_empty() && loaded.spec.limits.is_empty());
    let mut told = codes(&loaded);
    told.sort_unstable();
    assert_eq!(told, ["W450", "W450", "W452"], "{:?}", loaded.warnings);
}
