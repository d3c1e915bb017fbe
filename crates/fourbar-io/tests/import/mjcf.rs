//! MJCF.

use super::*;
use std::f64::consts::PI;

fn world(body: &str) -> Loaded {
    read(&format!("<mujoco><worldbody>{body}</worldbody></mujoco>"))
}

#[test]
fn orientations_are_those_of_every_spelling() {
    // A quarter turn about z, in each notation.
    let root = 0.5f64.sqrt();
    for (compiler, spelled) in [
        ("", format!("quat='{root} 0 0 {root}'")),
        ("", "axisangle='0 0 2 90'".into()),
        ("", "euler='0 0 90'".into()),
        ("<compiler angle='radian'/>", format!("euler='0 0 {}'", PI / 2.0)),
        ("", "xyaxes='0 1 0 -3 1 0'".into()),
        ("<compiler eulerseq='zyx'/>", "euler='90 0 0'".into()),
    ] {
        let text =
            format!("<mujoco>{compiler}<worldbody><body name='a' {spelled}><freejoint/><geom size='0.1'/></body></worldbody></mujoco>");
        let m = model(&read(&text));
        let A = body(&m, "a").A;
        near(A * Vector3::x(), [0.0, 1.0, 0.0]);
        near(A * Vector3::z(), [0.0, 0.0, 1.0]);
    }
    // The order of Euler angles: moving axes for small letters, fixed ones for capitals. Moving: z maps y to -x, then y maps it to z.
    // Fixed: y maps x to -z, which z leaves unchanged.
    for (seq, axis, image) in [("xyz", Vector3::y(), [0.0, 0.0, 1.0]), ("XYZ", Vector3::x(), [0.0, 0.0, -1.0])] {
        let text = format!(
            "<mujoco><compiler eulerseq='{seq}'/><worldbody><body name='a' euler='0 90 90'><freejoint/><geom size='1'/></body></worldbody></mujoco>"
        );
        near(body(&model(&read(&text)), "a").A * axis, image);
    }
    let m = model(&world("<body name='a' zaxis='1 0 0'><freejoint/><geom size='0.1'/></body>"));
    near(body(&m, "a").A * Vector3::z(), [1.0, 0.0, 0.0]);
}

#[test]
fn geoms_weigh_what_their_shapes_weigh() {
    let solid = |geom: &str| {
        let m = model(&world(&format!("<body name='a'><freejoint/>{geom}</body>")));
        let b = body(&m, "a").clone();
        (b.mass, b.r, inertia(&b))
    };
    let (mass, r, J) = solid("<geom size='0.1' pos='1 2 3'/>");
    let ball = 1000.0 * 4.0 / 3.0 * PI * 1e-3;
    assert!((mass - ball).abs() < 1e-12 && (J[(0, 0)] - 0.4 * ball * 0.01).abs() < 1e-12);
    near(r, [1.0, 2.0, 3.0]);
    let (mass, _, J) = solid("<geom type='box' size='0.1 0.2 0.3' mass='12'/>");
    assert_eq!(mass, 12.0);
    assert!((J[(0, 0)] - 4.0 * (0.04 + 0.09)).abs() < 1e-14 && (J[(2, 2)] - 4.0 * (0.01 + 0.04)).abs() < 1e-14);
    let (mass, r, J) = solid("<geom type='cylinder' fromto='0 0 0 2 0 0' size='0.1' density='500'/>");
    assert!((mass - 500.0 * PI * 0.01 * 2.0).abs() < 1e-12);
    near(r, [1.0, 0.0, 0.0]);
    assert!((J[(0, 0)] - 0.5 * mass * 0.01).abs() < 1e-12 && (J[(1, 1)] - mass * (0.03 + 4.0) / 12.0).abs() < 1e-12);
    // A box between two ends has equal width and height, whatever its second size.
    for size in ["0.1", "0.1 0.4"] {
        let (mass, r, J) = solid(&format!("<geom type='box' fromto='0 0 0 0 0 2' size='{size}'/>"));
        assert!((mass - 1000.0 * 0.2 * 0.2 * 2.0).abs() < 1e-12, "{mass}");
        near(r, [0.0, 0.0, 1.0]);
        assert!((J[(0, 0)] - J[(1, 1)]).abs() < 1e-13 && (J[(2, 2)] - mass * 0.08 / 12.0).abs() < 1e-13);
        let (mass, ..) = solid(&format!("<geom type='ellipsoid' fromto='0 0 0 2 0 0' size='{size}' density='300'/>"));
        assert!((mass - 300.0 * 4.0 / 3.0 * PI * 0.01).abs() < 1e-12, "{mass}");
    }
    let (mass, _, J) = solid("<geom type='ellipsoid' size='1 2 3' mass='5'/>");
    assert_eq!(mass, 5.0);
    assert!((J[(2, 2)] - (1.0 + 4.0)).abs() < 1e-13);
    // A group outside the range has no mass.
    let text = "<mujoco><compiler inertiagrouprange='0 1'/><worldbody><body name='a'><freejoint/><geom size='1' mass='1'/><geom size='1' mass='9' group='3'/></body></worldbody></mujoco>";
    assert_eq!(body(&model(&read(text)), "a").mass, 1.0);
}

#[test]
fn classes_of_defaults_are_inherited_and_overridden() {
    let text = r#"<mujoco>
      <default><joint damping="1"/><geom mass="2" size="0.1"/>
        <default class="stiff"><joint stiffness="30" type="slide" axis="1 0 0"/>
          <default class="soft"><joint stiffness="3"/></default></default></default>
      <worldbody>
        <body name="a"><joint name="ja"/><geom/></body>
        <body name="b" childclass="stiff"><joint name="jb"/><geom/>
          <body name="c"><joint name="jc" class="soft"/><geom mass="5"/></body>
          <body name="d"><joint name="jd" class="main" axis="0 1 0"/><geom/></body></body>
      </worldbody></mujoco>"#;
    let m = model(&read(text));
    let kind = |n: &str| m.joints.iter().find(|j| j.name == n).expect("there").kind.name();
    assert_eq!(["ja", "jb", "jc", "jd"].map(kind), ["revolute", "prismatic", "prismatic", "revolute"]);
    assert_eq!(["a", "b", "c"].map(|n| body(&m, n).mass), [2.0, 2.0, 5.0]);
    let spec = read(text).spec;
    let text = write_model(&spec);
    assert!(text.contains("jb_spring") && text.contains("30") && text.contains("jc_spring"), "{text}");
    let e = read_model("<mujoco><worldbody><geom class='no'/></worldbody></mujoco>", &ReadOptions::default()).expect_err("refused");
    assert_eq!(e.code().0, "M655");
}

#[test]
fn a_spring_on_a_slide_and_on_a_hinge_swings_with_its_frequency() {
    // Without gravity x = x0 + (q0 - x0) cos(w t) with w^2 = k/m, measured from the reference of the joint.
    let text = r#"<mujoco><option gravity="0 0 0"/><compiler angle="radian"/><worldbody>
      <body name="a"><joint name="s" type="slide" axis="0 0 1" ref="0.3" springref="0.1" stiffness="8"/><geom size="0.1" mass="2"/></body>
      <body name="b"><joint name="h" type="hinge" axis="0 0 1" ref="-0.2" springref="0.4" stiffness="5"/>
        <inertial pos="0 0 0" mass="1" diaginertia="1 1 0.8"/></body>
      </worldbody></mujoco>"#;
    let m = model(&read(text));
    let t = motion(&m, 0.7);
    let s = 0.1 + 0.2 * (2.0f64 * 0.7).cos();
    let h = 0.4 - 0.6 * (2.5f64 * 0.7).cos();
    assert!((last(&t, "s.distance") - s).abs() < 1e-8, "{} {s}", last(&t, "s.distance"));
    assert!((last(&t, "h.angle") - h).abs() < 1e-8, "{} {h}", last(&t, "h.angle"));
}

#[test]
fn joints_of_one_body_act_one_after_the_other() {
    // Two slides and a hinge: the body moves in the plane and falls freely.
    let text = r#"<mujoco><option gravity="0 -10 0"/><worldbody><body name="a">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/><joint name="turn" axis="0 0 1"/>
      <geom size="0.1" mass="1"/></body></worldbody></mujoco>"#;
    let loaded = read(text);
    assert_eq!(codes(&loaded).iter().filter(|c| **c == "W453").count(), 2);
    let m = model(&loaded);
    assert_eq!(mobility(&m), (3, 0));
    let t = motion(&m, 0.5);
    assert!((last(&t, "y.distance") + 0.5 * 10.0 * 0.25).abs() < 1e-9);
}

#[test]
fn equalities_close_loops_and_couple_joints() {
    let text = r#"<mujoco><compiler angle="radian"/><worldbody>
      <body name="crank"><joint name="j1" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.05"/>
        <body name="coupler" pos="1 0 0"><joint name="j2" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 1 1 0" size="0.05"/></body></body>
      <body name="rocker" pos="2 0 0"><joint name="j3" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 0 1 0" size="0.05"/>
        <site name="end" pos="0 1 0"/></body>
      <body name="wheel" pos="0 0 1"><joint name="j4" axis="0 0 1" ref="0.1"/><geom size="0.2"/></body>
      <body name="still" pos="0 0 2"><joint name="j5" axis="0 0 1"/><geom size="0.2"/></body>
      </worldbody>
      <equality><connect name="loop" body1="coupler" body2="rocker" anchor="1 1 0"/>
        <joint name="gear" joint1="j4" joint2="j1" polycoef="0.25 -3 0 0 0"/><joint name="lock" joint1="j5" polycoef="0.4 0 0 0 0"/>
        <weld name="off" body1="still" body2="wheel" active="false"/></equality></mujoco>"#;
    let loaded = read(text);
    assert!(codes(&loaded).contains(&"W457"));
    let m = model(&loaded);
    let j = m.joints.iter().find(|j| j.name == "loop").expect("there");
    let at = |k: usize| {
        let b = &m.bodies[j.bodies[k].index()];
        b.r + b.A * if k == 0 { j.F.s } else { j.M.s }
    };
    near(at(0), [2.0, 1.0, 0.0]);
    near(at(1), [2.0, 1.0, 0.0]);
    // j1 turns, j4 follows with the factor -3 and is 0.25 beyond its reference of 0.1; j5 is held at 0.4.
    near(body(&m, "wheel").A * Vector3::x(), [0.25f64.cos(), 0.25f64.sin(), 0.0]);
    near(body(&m, "still").A * Vector3::x(), [0.4f64.cos(), 0.4f64.sin(), 0.0]);
    assert_eq!(mobility(&m).0, 2);
    let mut moving = m.clone();
    moving.gravity = Vector3::new(1.0, -9.81, 0.0);
    let t = motion(&moving, 0.2);
    // Its coordinate is measured from there.
    assert!((last(&t, "j4.angle") + 3.0 * last(&t, "j1.angle")).abs() < 1e-8);
    let turned = 2.0 * last(&t, "wheel.p.3").atan2(last(&t, "wheel.p.0"));
    assert!((turned - (0.25 - 3.0 * last(&t, "j1.angle"))).sin().abs() < 1e-8, "{turned}");
    assert!((last(&t, "j5.angle") - 0.4).abs() < 1e-9);
}

#[test]
fn actuators_are_inputs_with_their_laws() {
    let text = r#"<mujoco><option gravity="0 0 0"/><compiler angle="radian"/>
      <default><default class="servo"><position kp="20" kv="3" ctrlrange="-1 1"/></default></default>
      <worldbody>
      <body name="a"><joint name="ja" type="slide" axis="1 0 0"/><geom size="0.1" mass="2"/></body>
      <body name="b" pos="0 1 0"><joint name="jb" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 0.5"/></body>
      <body name="c" pos="0 2 0"><joint name="jc" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 0.5"/></body>
      <body name="d" pos="0 3 0"><freejoint/><site name="rotor" pos="0 0 0" euler="0 1.5707963267948966 0"/><geom size="0.1" mass="4"/></body>
      <body name="e" pos="0 4 0"><joint name="je" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body>
      </worldbody>
      <tendon><fixed name="both"><joint joint="jb" coef="0.5"/><joint joint="jc" coef="-0.25"/></fixed></tendon>
      <actuator><motor name="push" joint="ja" gear="3"/><position name="hold" class="servo" joint="jb"/>
        <general name="pull" tendon="both" gainprm="2"/><motor name="lift" site="rotor" gear="0 0 5 0 0 0"/>
        <general name="slow" joint="je" dyntype="filter" dynprm="0.2" gainprm="4"/>
        <muscle name="flesh" joint="jc"/></actuator></mujoco>"#;
    let loaded = read(text);
    assert!(loaded.warnings.iter().any(|w| w.code.0 == "W450" && w.message.contains("flesh")));
    let mut m = model(&loaded);
    let input = |m: &mut Model, name: &str, x: f64| {
        let k = m.inputs.iter().position(|i| i.name == name).unwrap_or_else(|| panic!("no input {name}"));
        m.inputs[k].default = x;
    };
    input(&mut m, "push", 0.5);
    input(&mut m, "hold", 0.4);
    input(&mut m, "lift", 2.0);
    input(&mut m, "slow", 1.5);
    let t = motion(&m, 0.6);
    // 3 * 0.5 N on 2 kg; a force of 10 N along the z axis of the site, which is the world's x, on 4 kg.
    assert!((last(&t, "ja.distance") - 0.5 * 0.75 * 0.36).abs() < 1e-9);
    assert!((last(&t, "d.r.x") - 0.5 * 2.5 * 0.36).abs() < 1e-9);
    // 0.5 q'' + 3 q' + 20 q = 8: damped oscillation about 0.4.
    let (w, d) = (40.0f64.sqrt(), 3.0f64);
    let wd = (w * w - d * d).sqrt();
    let q = 0.4 * (1.0 - (-d * 0.6f64).exp() * ((wd * 0.6).cos() + d / wd * (wd * 0.6).sin()));
    assert!((last(&t, "jb.angle") - q).abs() < 1e-8, "{} {q}", last(&t, "jb.angle"));
    // x'' = 4 s with s = 1.5 (1 - exp(-t/0.2)).
    let (u, tau, e) = (1.5, 0.2f64, 0.6f64);
    let x = 4.0 * u * (0.5 * e * e - tau * e + tau * tau * (1.0 - (-e / tau).exp()));
    assert!((last(&t, "je.distance") - x).abs() < 1e-8, "{} {x}", last(&t, "je.distance"));
    // The tendon pulls 2 u: torques u and -u/2.
    let mut m = model(&loaded);
    input(&mut m, "pull", 1.0);
    let t = motion(&m, 0.3);
    assert!((last(&t, "jc.angle") + 0.5 * (0.5 / 0.5) * 0.09).abs() < 1e-9, "{}", last(&t, "jc.angle"));
}

#[test]
fn files_are_included_from_the_folder_and_below_only() {
    let part = "<mujocoinclude><body name='b'><freejoint/><geom size='0.1'/></body></mujocoinclude>";
    let main = "<mujoco>\n<worldbody><include file='parts/b.xml'/></worldbody></mujoco>";
    let folder = Folder::new("include", &[("main.xml", main), ("parts/b.xml", part)]);
    let loaded = read_file(&folder.0.join("main.xml"));
    assert_eq!(loaded.spec.bodies[0].0, "b");
    assert_eq!(read_model(loaded.places.source(), &ReadOptions::default()).expect("good").spec, loaded.spec);
    let refused = |name: &str, files: &[(&str, &str)]| {
        let folder = Folder::new(name, files);
        let e = read_model_file(&folder.0.join("main.xml"), &[]).expect_err("refused");
        assert!(e.cause().line() > 0, "{e}");
        e.cause().clone()
    };
    let ring = refused(
        "ring",
        &[
            ("main.xml", "<mujoco><include file='a.xml'/></mujoco>"),
            ("a.xml", "<mujoco><include file='b.xml'/></mujoco>"),
            ("b.xml", "<mujoco><include file='a.xml'/></mujoco>"),
        ],
    );
    assert_eq!(ring.code.0, "M657");
    assert!(ring.message.contains("`a.xml`, `b.xml`, `a.xml`"), "{}", ring.message);
    let own = refused("own", &[("main.xml", "<mujoco><include file='main.xml'/></mujoco>")]);
    assert_eq!(own.message, "`main.xml` includes itself");
    for (k, file) in ["../main.xml", "/etc/passwd", "no.xml", "C:/x.xml"].iter().enumerate() {
        let text = format!("<mujoco><include file='{file}'/></mujoco>");
        let d = refused(&format!("escape{k}"), &[("main.xml", &text)]);
        assert_eq!(d.code.0, "M657", "{}", d.message);
    }
    // A problem inside an included file is located in that file.
    let d = refused(
        "inside",
        &[
            ("main.xml", "<mujoco><include file='a.xml'/></mujoco>"),
            ("a.xml", "<mujoco>\n<worldbody><body><geom size='x'/></body></worldbody></mujoco>"),
        ],
    );
    assert_eq!((d.code.0, d.line()), ("M651", 2));
    assert!(d.place.as_ref().and_then(|p| p.file.as_deref()).is_some_and(|f| f.ends_with("a.xml")));
}

/// A box of one by two by three as an STL text.
fn stl() -> String {
    let corner = |k: usize| [f64::from(k as u32 & 1), 2.0 * f64::from(k as u32 >> 1 & 1), 3.0 * f64::from(k as u32 >> 2 & 1)];
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let mut text = String::from("solid box\n");
    for t in quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]) {
        text += "facet normal 0 0 0\nouter loop\n";
        for k in t {
            let [x, y, z] = corner(k);
            text += &format!("vertex {x} {y} {z}\n");
        }
        text += "endloop\nendfacet\n";
    }
    text + "endsolid box\n"
}

#[test]
fn a_mesh_weighs_what_it_encloses_and_a_missing_one_is_named() {
    let main = r#"<mujoco><compiler meshdir="assets"/><asset><mesh name="block" file="block.stl" scale="0.1 0.1 -0.1"/></asset><worldbody>
      <body name="a" pos="1 0 0"><freejoint/><geom type="mesh" mesh="block" density="500"/></body></worldbody></mujoco>"#;
    let folder = Folder::new("mesh", &[("main.xml", main), ("assets/block.stl", &stl())]);
    let m = model(&read_file(&folder.0.join("main.xml")));
    let b = body(&m, "a");
    assert!((b.mass - 3.0).abs() < 1e-6, "{}", b.mass);
    assert!((b.r - Vector3::new(1.05, 0.1, -0.15)).amax() < 1e-7);
    assert!((b.J_bar[(0, 0)] - 3.0 * (0.04 + 0.09) / 12.0).abs() < 1e-7);
    let loaded = read(main);
    let missing: Vec<&str> = loaded.warnings.iter().filter(|w| w.code.0 == "W456").flat_map(|w| &w.names).map(String::as_str).collect();
    assert!(missing.contains(&"block.stl"), "{missing:?}");
    // In another folder given by the option.
    let elsewhere = Folder::new("elsewhere", &[("block.stl", &stl())]);
    let alone = Folder::new("alone", &[("main.xml", main)]);
    let path = alone.0.join("main.xml");
    let folders = [elsewhere.0.clone()];
    let options = ReadOptions { path: Some(&path), mesh_path: &folders, ..ReadOptions::default() };
    let loaded = fourbar_io::read_model_file_with(&path, &options).expect("read");
    assert!((loaded.spec.bodies[0].1.mass - 3.0).abs() < 1e-6);
}

#[test]
fn rotors_limits_and_what_changes_the_mechanism_are_never_silent() {
    let text = "<mujoco><worldbody><body><joint name='j' range='-30 60' armature='0.2' frictionloss='0.1'/><geom size='0.1'/></body></worldbody>\
        <sensor><jointpos joint='j'/></sensor><keyframe><key qpos='1'/></keyframe></mujoco>";
    let loaded = read(text);
    let list = codes(&loaded);
    for code in ["W450", "W455", "W458"] {
        assert!(list.contains(&code), "{code} {list:?}");
    }
    let limits = &loaded.spec.limits[0].1;
    assert!((limits.min.expect("a least") + PI / 6.0).abs() < 1e-15 && (limits.max.expect("a largest") - PI / 3.0).abs() < 1e-15);
    for tag in ["replicate count='3'", "composite type='cable'", "attach model='x'"] {
        let text = format!("<mujoco><worldbody><{tag}/></worldbody></mujoco>");
        let e = read_model(&text, &ReadOptions::default()).expect_err("refused");
        assert_eq!(e.code().0, "M653");
    }
}

#[test]
fn rotors_resist_their_own_joints_alone() {
    // A vertical slide falls with m g/(m + a): the rotor has no weight. A hinge and a slide with springs oscillate with the summed inertia.
    let (m, a, k) = (2.0f64, 3.0, 8.0);
    let text = format!(
        r#"<mujoco><option gravity="0 0 -10"/><compiler angle="radian"/><worldbody>
      <body name="a"><joint name="s" type="slide" axis="0 0 1" ref="0.3" armature="{a}"/><geom size="0.1" mass="{m}"/></body>
      <body name="b"><joint name="h" type="hinge" axis="0 0 1" ref="-0.2" springref="0.4" stiffness="{k}" armature="{a}"/>
        <inertial pos="0 0 0" mass="1" diaginertia="1 1 0.8"/></body>
      </worldbody></mujoco>"#
    );
    let loaded = read(&text);
    let told = loaded.warnings.iter().find(|w| w.code.0 == "W455").expect("told");
    assert_eq!(told.names, ["s_rotor", "h_rotor"]);
    let made = model(&loaded);
    assert_eq!(mobility(&made), (2, 0));
    let t = motion(&made, 0.7);
    let s = 0.3 - 0.5 * 10.0 * m / (m + a) * 0.49;
    let h = 0.4 - 0.6 * ((k / (0.8 + a)).sqrt() * 0.7).cos();
    assert!((last(&t, "s.distance") - s).abs() < 1e-8, "{} {s}", last(&t, "s.distance"));
    assert!((last(&t, "h.angle") - h).abs() < 1e-8, "{} {h}", last(&t, "h.angle"));
}

/// Rates of a double pendulum of rods with rotors: angles `q`, the second relative to the first, the first downwards from the horizontal.
fn rods(x: [f64; 4], l: [f64; 2], rotor: [f64; 2], g: f64) -> [f64; 4] {
    let [q1, q2, v1, v2] = x;
    let ([l1, l2], (s2, c2)) = (l, q2.sin_cos());
    // Rods of 1 kg; moments of inertia about their centres are l^2/12.
    let (m22, m12) = (l2 * l2 / 3.0 + rotor[1], l2 * l2 / 3.0 + l1 * l2 * c2 / 2.0);
    let m11 = l1 * l1 / 3.0 + l1 * l1 + l1 * l2 * c2 + l2 * l2 / 3.0 + rotor[0];
    let h = l1 * l2 * s2 / 2.0;
    let f1 = g * (1.5 * l1 * q1.cos() + 0.5 * l2 * (q1 + q2).cos()) + h * (2.0 * v1 * v2 + v2 * v2);
    let f2 = g * 0.5 * l2 * (q1 + q2).cos() - h * v1 * v1;
    let det = m11 * m22 - m12 * m12;
    [v1, v2, (m22 * f1 - m12 * f2) / det, (m11 * f2 - m12 * f1) / det]
}

#[test]
fn a_double_pendulum_with_rotors_moves_by_its_equations() {
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |t| u64::from(t.subsec_nanos()) + 1);
    let mut random = fourbar::random::Random(seed);
    for _ in 0..4 {
        let mut draw = |low: f64, high: f64| low + (high - low) * 0.5 * (1.0 + random.number());
        let (l, rotor, t_end) = ([draw(0.3, 1.5), draw(0.3, 1.5)], [draw(0.0, 0.5), draw(0.01, 2.0)], draw(0.2, 0.8));
        let rod = |l: f64| format!("<inertial pos='{} 0 0' mass='1' diaginertia='1e-3 {} {}'/>", l / 2.0, l * l / 12.0, l * l / 12.0);
        let text = format!(
            "<mujoco><option gravity='0 0 -9.81'/><worldbody><body name='one'><joint name='p' axis='0 1 0' armature='{}'/>{}<body name='two' pos='{} 0 0'>\
            <joint name='q' axis='0 1 0' armature='{}'/>{}</body></body></worldbody></mujoco>",
            rotor[0],
            rod(l[0]),
            l[0],
            rotor[1],
            rod(l[1])
        );
        let t = motion(&model(&read(&text)), t_end);
        let n = 4000;
        let h = t_end / f64::from(n);
        let mut x = [0.0; 4];
        for _ in 0..n {
            let f = |x: [f64; 4]| rods(x, l, rotor, 9.81);
            let plus = |x: [f64; 4], k: [f64; 4], h: f64| [0, 1, 2, 3].map(|i| x[i] + h * k[i]);
            let k1 = f(x);
            let k2 = f(plus(x, k1, h / 2.0));
            let k3 = f(plus(x, k2, h / 2.0));
            let k4 = f(plus(x, k3, h));
            x = [0, 1, 2, 3].map(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        }
        for (name, value) in [("p.angle", x[0]), ("q.angle", x[1])] {
            assert!((last(&t, name) - value).abs() < 1e-7, "seed {seed}: {name} {} {value}", last(&t, name));
        }
    }
}

#[test]
fn rotors_of_balls_and_free_bodies_are_listed() {
    for joint in ["<joint name='j' type='ball' armature='0.2'/>", "<joint name='j' type='free' armature='0.2'/>"] {
        let loaded = world(&format!("<body name='a'>{joint}<geom size='0.1'/></body>"));
        let told: Vec<&str> = loaded.warnings.iter().filter(|w| w.code.0 == "W455").map(|w| w.message.as_str()).collect();
        assert_eq!(told, ["the rotor inertia of `j`, 0.2 kg m^2, is not converted: the joint has no single coordinate"]);
        assert_eq!(loaded.spec.bodies.len(), 1);
    }
}

#[test]
fn a_pendulum_stops_at_its_limit() {
    // It falls from the horizontal by 30 degrees and stays there: the limit absorbs the whole velocity.
    let text = "<mujoco><worldbody><body><joint name='j' axis='0 1 0' range='-10 30'/><inertial pos='1 0 0' mass='2' diaginertia='1 1 1'/>\
        </body></worldbody></mujoco>";
    let loaded = read(text);
    assert!(!codes(&loaded).contains(&"W452"));
    let m = model(&loaded);
    let t = motion(&m, 2.0);
    assert!((last(&t, "j.angle") - PI / 6.0).abs() < 1e-7, "{}", last(&t, "j.angle"));
    assert!(last(&t, "j.speed").abs() < 1e-7);
}

#[test]
fn limits_that_the_start_or_the_joint_does_not_allow_are_listed() {
    for (joint, why) in [
        ("name='j' range='10 30'", "the start, 0, is outside them"),
        ("name='j' type='slide' range='-2 -1'", "the start, 0, is outside them"),
        ("name='j' limited='true' range='0 0'", "they leave no range"),
        ("name='j' type='ball' range='0 30'", "no single coordinate"),
    ] {
        let text = format!("<mujoco><worldbody><body><joint {joint}/><geom size='0.1'/></body></worldbody></mujoco>");
        let loaded = read(&text);
        assert!(loaded.spec.limits.is_empty(), "{joint}");
        let notes: Vec<_> = loaded.warnings.iter().filter(|w| w.code.0 == "W452").collect();
        assert!(notes.len() == 1 && notes[0].message.contains(why), "{joint}: {:?}", loaded.warnings);
        motion(&model(&loaded), 0.1);
    }
}

#[test]
fn sites_that_are_apart_by_the_digits_of_the_file_are_one_point() {
    let text = |x: f64| {
        format!(
            "<mujoco><worldbody><body name='a'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 1 0 0' size='0.1'/><site name='s' pos='1 0 0'/></body><body name='b' pos='2 0 0'><joint axis='0 1 0'/><joint type='slide' axis='1 0 0'/><geom type='capsule' fromto='0 0 0 -1 0 0' size='0.1'/><site name='r' pos='{x} 0 0'/></body></worldbody><equality><connect name='c' site1='s' site2='r'/></equality></mujoco>"
        )
    };
    let gap = |loaded: &Loaded| {
        let m = model(loaded);
        let j = m.joints.iter().find(|j| j.name == "c").expect("the loop");
        let at = |k: usize, s: Vector3<f64>| m.bodies[j.bodies[k].index()].r + m.bodies[j.bodies[k].index()].A * s;
        (at(0, j.F.s) - at(1, j.M.s)).norm()
    };
    let near = read(&text(-1.000_000_03));
    assert!(gap(&near) < 1e-15 && near.warnings.iter().any(|w| w.code.0 == "W457" && w.message.contains("3.00e-8")), "{:?}", near.warnings);
    let far = read(&text(-1.001));
    assert!((gap(&far) - 1e-3).abs() < 1e-12);
}

/// Coefficients beyond the first, which make springs and dampers nonlinear, and tendons that are slack between two lengths are reported.
#[test]
fn nonlinear_coefficients_are_listed() {
    let text = |joint: &str, tendon: &str| {
        format!(
            "<mujoco><worldbody><body name='a'><joint name='j' type='slide' {joint}/><geom size='0.1'/></body></worldbody>\
             <tendon><fixed name='rope' {tendon}><joint joint='j' coef='1'/></fixed></tendon></mujoco>"
        )
    };
    for (joint, tendon, notes) in [
        ("stiffness='3' damping='0.1'", "stiffness='2' springlength='0.5'", 0),
        ("stiffness='3 0 0' damping='0.1'", "stiffness='2' springlength='0.5 0.5'", 0),
        ("stiffness='3 4' damping='0.1'", "stiffness='2'", 1),
        ("stiffness='3 4' damping='0.1 0 5'", "stiffness='2 1'", 3),
        ("", "stiffness='2' springlength='0.25 0.5'", 0),
    ] {
        let loaded = read(&text(joint, tendon));
        let told = loaded.warnings.iter().filter(|w| w.code.0 == "W450").count();
        assert_eq!(told, notes, "{joint} {tendon}: {:?}", loaded.warnings);
    }
}

#[test]
fn sizes_and_masses_of_geoms_are_positive() {
    for geom in [
        "size='-0.1'",
        "",
        "type='capsule' size='0.1'",
        "type='cylinder' size='0.1' fromto='1 1 1 1 1 1'",
        "type='box' size='0.1 0.2'",
        "type='box' size='0.1 0.2 -0.3'",
        "size='0.1' mass='-1'",
        "size='0.1' density='-1'",
    ] {
        let text = format!("<mujoco><worldbody><body><joint/><geom size='0.1'/><geom {geom}/></body></worldbody></mujoco>");
        let e = read_model(&text, &ReadOptions::default()).expect_err("refused");
        assert!(e.code().0 == "M651" && e.cause().line() > 0, "{geom}: {e}");
    }
    // Planes and meshes have no size.
    world("<geom type='plane'/><body><joint/><geom size='0.1' density='0'/><inertial mass='1' pos='0 0 1' diaginertia='1 1 1'/></body>");
}

#[test]
fn a_tendon_rests_where_the_springs_of_its_joints_do_and_may_be_slack() {
    // A mass of 1 kg on a slide without gravity: with weak damping it comes to rest where the tendon exerts no force.
    let rest = |joint: &str, tendon: &str| {
        let text = format!(
            "<mujoco><option gravity='0 0 0'/><worldbody><body name='a'><joint name='j' type='slide' damping='80' {joint}/><geom size='0.1' mass='1'/></body></worldbody>\
             <tendon><fixed name='rope' stiffness='20' {tendon}><joint joint='j' coef='2'/></fixed></tendon></mujoco>"
        );
        last(&motion(&model(&read(&text)), 60.0), "j.distance")
    };
    for (joint, tendon, at) in [
        ("springref='0.3'", "", 0.3),
        ("ref='0.1' springref='0.3'", "", 0.3),
        ("ref='0.1'", "", 0.0),
        ("ref='0.1' springref='0.3'", "springlength='-1'", 0.3),
        ("springref='0.3'", "springlength='-0.2'", -0.1),
        ("springref='0.3'", "springlength='0.5'", 0.25),
        ("", "springlength='0.2 0.5'", 0.1),
        ("ref='0.6'", "springlength='0.2 0.5'", 0.25),
        ("ref='0.2'", "springlength='0.2 0.5'", 0.2),
    ] {
        let x = rest(joint, tendon);
        assert!((x - at).abs() < 1e-6, "{joint} {tendon}: {x} {at}");
    }
    let text = "<mujoco><worldbody><body><joint name='j'/><geom size='0.1'/></body></worldbody><tendon><fixed name='rope' springlength='0.3 0.2'><joint joint='j' coef='2'/></fixed></tendon></mujoco>";
    assert_eq!(read_model(text, &ReadOptions::default()).expect_err("refused").code().0, "M651");
    let text = "<mujoco><worldbody><body><joint name='j' type='ball'/><geom size='0.1'/></body></worldbody><tendon><fixed name='rope'><joint joint='j' coef='2'/></fixed></tendon></mujoco>";
    assert_eq!(read_model(text, &ReadOptions::default()).expect_err("refused").code().0, "M655");
}

#[test]
fn bounds_of_mass_and_inertia_are_for_bodies_of_the_file() {
    let text = |bounds: &str| {
        format!(
            "<mujoco><compiler {bounds}/><worldbody><body name='a'><joint axis='1 0 0'/><joint axis='0 1 0'/><geom size='0.1' mass='2'/></body></worldbody></mujoco>"
        )
    };
    let [plain, bounded] = ["", "boundmass='0.5' boundinertia='0.01'"].map(|b| model(&read(&text(b))));
    for m in [&plain, &bounded] {
        assert_eq!(body(m, "a").mass, 2.0);
        assert!(body(m, "a_1").mass < 1e-5, "{}", body(m, "a_1").mass);
    }
    assert!((inertia(body(&bounded, "a"))[(0, 0)] - 0.01).abs() < 1e-15);
    assert!(inertia(body(&bounded, "a_1")).amax() < 1e-6);
}

#[test]
fn frames_hold_joints_and_inertias_too() {
    // The same pendulum with a hinge and a slide, with frames and without.
    let plain = "<body name='a' pos='1 0 0'><joint name='j' pos='0 1 1' axis='0 -1 0'/><joint name='k' type='slide' axis='1 0 0' pos='1 1 0'/>\
        <inertial mass='2' pos='0.3 1 0.5' diaginertia='0.1 0.2 0.25'/></body>";
    let framed = "<body name='a' pos='1 0 0'><frame pos='0 1 0'><frame axisangle='1 0 0 90'><joint name='j' pos='0 1 0' axis='0 0 1'/></frame>\
        <frame pos='1 0 0'><joint name='k' type='slide' axis='1 0 0'/></frame>\
        <frame pos='0.3 0 0.5' axisangle='1 0 0 90'><inertial mass='2' pos='0 0 0' diaginertia='0.1 0.25 0.2'/></frame></frame></body>";
    let [a, b] = [plain, framed].map(|text| motion(&model(&world(text)), 0.5));
    for column in ["a.r.x", "a.r.y", "a.r.z", "j.angle", "k.distance"] {
        assert!((last(&a, column) - last(&b, column)).abs() < 1e-9, "{column}: {} {}", last(&a, column), last(&b, column));
    }
    assert!(last(&a, "j.angle").abs() > 0.1);
    let twice = "<mujoco><worldbody><body><joint/><inertial mass='1' pos='0 0 1' diaginertia='1 1 1'/><frame><inertial mass='1' pos='0 0 1' diaginertia='1 1 1'/></frame></body></worldbody></mujoco>";
    assert_eq!(read_model(twice, &ReadOptions::default()).expect_err("refused").code().0, "M656");
}

#[test]
fn what_flags_switch_off_is_not_there() {
    let text = |flags: &str| {
        format!(
            "<mujoco><option><flag {flags}/></option><worldbody><body name='a'><joint name='j' stiffness='3' damping='2' frictionloss='1' range='-30 30'/><geom size='0.1'/></body>\
             <body name='b'><joint name='k'/><geom size='0.1'/></body></worldbody>\
             <equality><joint joint1='j' joint2='k'/></equality><tendon><fixed name='rope' stiffness='2'><joint joint='j' coef='1'/></fixed></tendon>\
             <actuator><motor name='m' joint='j' ctrlrange='-1 1'/></actuator></mujoco>"
        )
    };
    let forces = |flags: &str| -> Vec<String> { read(&text(flags)).spec.forces.iter().map(|(n, _)| n.clone()).collect() };
    assert_eq!(forces("contact='disable'"), ["j_spring", "j_friction", "rope_spring", "m_motor"]);
    assert_eq!(forces("spring='disable' damper='disable'"), ["j_friction", "m_motor"]);
    assert_eq!(forces("passive='disable' frictionloss='disable'"), ["m_motor"]);
    assert_eq!(forces("actuation='disable' constraint='disable'"), ["j_spring", "rope_spring"]);
    let joints = |flags: &str| read(&text(flags)).spec.joints.len();
    assert_eq!((joints("contact='disable'"), joints("equality='disable'"), joints("constraint='disable'")), (3, 2, 2));
    let limits = |flags: &str| read(&text(flags)).spec.limits.len();
    assert_eq!((limits("contact='disable'"), limits("limit='disable'")), (1, 0));
    let range = |flags: &str| read(&text(flags)).spec.inputs[0].1.range;
    assert_eq!((range("contact='disable'"), range("clampctrl='disable'")), ([-1.0, 1.0], [f64::NEG_INFINITY, f64::INFINITY]));
    assert!(!codes(&read(&text("contact='disable'"))).contains(&"W450"));
}

#[test]
fn defaults_are_listed_only_where_they_are_missed() {
    let text = |geom: &str| {
        format!(
            "<mujoco><default><geom mass='2' contype='0'/><joint damping='1'/><position kp='3'/><site size='1'/></default>\
             <worldbody><body><joint damping='2'/><geom size='0.1' mass='1' {geom}/></body></worldbody></mujoco>"
        )
    };
    let told: Vec<String> = read(&text("")).warnings.iter().filter(|w| w.code.0 == "W450").map(|w| w.message.clone()).collect();
    assert!(matches!(told.as_slice(), [one] if one.contains("contype") && !one.contains("mass")), "{told:?}");
}
