//! Hostile files: a diagnostic each, within seconds.

use super::*;
use fourbar::Diagnostic;
use fourbar::spec::At;
use std::time::{Duration, Instant};

#[track_caller]
fn refused(text: &str) -> &'static str {
    refused_with(text, false).code.0
}

#[track_caller]
fn refused_with(text: &str, large: bool) -> Diagnostic {
    let clock = Instant::now();
    let e = read_model(text, &ReadOptions { large, ..ReadOptions::default() }).expect_err("refused");
    assert!(clock.elapsed() < Duration::from_secs(2), "{:?}", clock.elapsed());
    e.cause().clone()
}

#[test]
fn entities_and_document_types_are_refused() {
    let laughs: String = (1..10).map(|k| format!("<!ENTITY l{k} \"{}\">", format!("&l{};", k - 1).repeat(10))).collect();
    let bomb = format!("<?xml version=\"1.0\"?><!DOCTYPE robot [<!ENTITY l0 \"lol\">{laughs}]><robot name=\"&l9;\"/>");
    assert_eq!(refused(&bomb), "M652");
    assert_eq!(refused("<!DOCTYPE robot SYSTEM \"file:///etc/passwd\"><robot/>"), "M652");
    assert_eq!(refused("<robot name=\"&nothing;\"/>"), "M650");
}

#[test]
fn deep_and_wide_files_are_refused_in_time() {
    for tag in ["body", "frame", "default", "x"] {
        let deep = format!(
            "<mujoco><worldbody>{}{}</worldbody></mujoco>",
            format!("<{tag}>").repeat(100_000),
            format!("</{tag}>").repeat(100_000)
        );
        assert_eq!(refused(&deep), "M652", "{tag}");
    }
    assert_eq!(refused(&format!("<robot>{}", "<link>".repeat(100_000))), "M652");
    assert_eq!(refused(&format!("<robot>{}</robot>", "<a/>".repeat(1_200_000))), "M652");
    assert_eq!(refused(&format!("<robot>{}</robot>", " ".repeat(17 << 20))), "M003");
    let bodies = |n: usize| format!("<mujoco><worldbody>{}</worldbody></mujoco>", "<body><joint/><geom size='1'/></body>".repeat(n));
    assert_eq!(refused(&bodies(25_000)), "M652");
    assert_eq!(read_model(&bodies(1_000), &ReadOptions::default()).expect("read").spec.bodies.len(), 1_000);
    let tabs: String = (1..10_000).map(|k| format!("{}x\n", "\t".repeat(k.min(200)))).collect();
    assert_eq!(refused(&format!("OndselSolver\nAssembly\n{tabs}")), "M660");
}

#[test]
fn very_many_attributes_are_refused_in_time() {
    // The search for duplicate attributes compares all pairs.
    let list = |n: usize| (0..n).map(|k| format!(" a{k}=''")).collect::<String>();
    for (many, large) in [(1_000_000, false), (9_000_000, true)] {
        let d = refused_with(&format!("<robot name='r'><link{}/></robot>", list(many)), large);
        assert!(d.code.0 == "M652" && d.message.contains("attributes"), "{d}");
        assert_eq!(d.place.as_ref().map(|p| (p.line, p.column)), Some((1, 17)), "{d:?}");
    }
    let d = refused_with(&format!("<robot>{}</robot>", "<a/>".repeat(3_200_000)), true);
    assert!(d.code.0 == "M652" && !d.help.contains("--large"), "{d}");
    // Quotes of the other kind, comparison signs and blanks inside values have no meaning.
    let odd = format!("<robot name='r'><link name='a' note=\"{}\"/></robot>", "' = '> ".repeat(2_000));
    assert!(read_model(&odd, &ReadOptions::default()).is_ok(), "one attribute is read, whatever it says");
}

#[test]
fn very_many_links_in_a_row_are_read() {
    let n = 3000;
    let mut text = String::from("<robot name='chain'><link name='l0'/>");
    for k in 1..n {
        let before = k - 1;
        text += &format!(
            "<link name='l{k}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>\
             <joint name='j{k}' type='continuous'><origin xyz='1 0 0'/><parent link='l{before}'/><child link='l{k}'/></joint>"
        );
    }
    let clock = Instant::now();
    let loaded = read_model(&(text + "</robot>"), &ReadOptions::default()).expect("read");
    assert_eq!(loaded.spec.bodies.len(), n - 1);
    assert_eq!(loaded.spec.bodies[n - 2].1.at[0], (n - 1) as f64);
    assert!(clock.elapsed() < Duration::from_secs(2), "{:?}", clock.elapsed());
}

#[test]
fn rows_of_frames_and_of_joints_that_follow_each_other_may_be_long() {
    let clock = Instant::now();
    let n = 20_000;
    let frame = |k: usize| {
        let before = if k == 0 { "a".to_string() } else { format!("f{}", k - 1) };
        format!("<frame name='f{k}' attached_to='{before}'><pose>0.001 0 0 0 0 0</pose></frame>")
    };
    let frames: String = (0..n).rev().map(frame).collect();
    let text = format!(
        "<sdf version='1.7'><model name='m'><link name='a'><pose>1 0 0 0 0 0</pose></link>{frames}\
         <joint name='j' type='revolute'><parent>world</parent><child>f{}</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>",
        n - 1
    );
    let loaded = read_model(&text, &ReadOptions::default()).expect("read");
    let last = &loaded.spec.points.iter().find(|(name, _)| *name == format!("f{}", n - 1)).expect("the last frame").1;
    let At::Body(at) = last.at else { panic!("{last:?}") };
    assert!(last.body == "a" && (at[0] - 0.001 * n as f64).abs() < 1e-9, "{last:?}");
    // Every joint coordinate is half the previous one plus a tenth: near 0.2 at the end.
    let link = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>";
    let joint = |k: usize| {
        let follows = if k > 1 { format!("<mimic joint='j{}' multiplier='0.5' offset='0.1'/>", k - 1) } else { String::new() };
        format!(
            "<link name='l{k}'>{link}<joint name='j{k}' type='prismatic'><parent link='l0'/><child link='l{k}'/><axis xyz='1 0 0'/>{follows}</joint>"
        )
    };
    let n = 2_000;
    let joints: String = (1..=n).rev().map(joint).collect();
    let loaded = read_model(&format!("<robot name='r'><link name='l0'/>{joints}</robot>"), &ReadOptions::default()).expect("read");
    let body = |k: usize| loaded.spec.bodies.iter().find(|(name, _)| *name == format!("l{k}")).expect("a link").1.at[0];
    assert!(body(1) == 0.0 && (body(2) - 0.1).abs() < 1e-12 && (body(3) - 0.15).abs() < 1e-12 && (body(n) - 0.2).abs() < 1e-12);
    assert!(clock.elapsed() < Duration::from_secs(4), "{:?}", clock.elapsed());
    // Circular references of both kinds are reported.
    let ring: String = (0..500).map(|k| format!("<frame name='f{k}' attached_to='f{}'/>", (k + 1) % 500)).collect();
    assert_eq!(
        refused(&format!("<sdf version='1.7'><model name='m'>{ring}<link name='a'><pose relative_to='f3'/></link></model></sdf>")),
        "M658"
    );
    let ring: String = (0..9).map(|k| format!("<link name='l{k}'>{link}<joint name='j{k}' type='continuous'><parent link='l'/><child link='l{k}'/><mimic joint='j{}'/></joint>", (k + 1) % 9)).collect();
    assert_eq!(refused(&format!("<robot name='r'><link name='l'/>{ring}</robot>")), "M658");
}

#[test]
fn links_that_carry_themselves_are_refused() {
    let joint = |k: usize, parent: &str, child: &str| {
        format!("<joint name='j{k}' type='continuous'><parent link='{parent}'/><child link='{child}'/></joint>")
    };
    let links = "<link name='root'/><link name='a'/><link name='b'/>";
    let ring = format!("<robot name='r'>{links}{}{}{}</robot>", joint(1, "root", "a"), joint(2, "a", "b"), joint(3, "b", "a"));
    assert_eq!(refused(&ring), "M658");
    let apart = format!("<robot name='r'>{links}{}{}</robot>", joint(1, "a", "b"), joint(2, "b", "a"));
    assert_eq!(refused(&apart), "M658");
}

#[test]
fn very_many_references_to_nothing_are_refused_in_time() {
    let n = 4_000;
    let links: String = (0..n).map(|k| format!("<link name='link_number_{k}'/>")).collect();
    let joints: String =
        (1..n).map(|k| format!("<joint name='j{k}' type='fixed'><parent link='link_0'/><child link='lnk_number_{k}'/></joint>")).collect();
    assert_eq!(refused(&format!("<robot name='r'>{links}{joints}</robot>")), "M655");
    // Unknown attributes, each with a different name.
    let many: String = (0..100_000).map(|k| format!("<material a{k}='1'/><other b{k}='1'/>")).collect();
    let clock = Instant::now();
    let text = format!("<robot name='r'><link name='world'/>{many}</robot>");
    let _ = read_model(&text, &ReadOptions::default());
    assert!(clock.elapsed() < Duration::from_secs(4), "{:?}", clock.elapsed());
}

#[test]
fn rows_of_joints_that_follow_with_an_offset_are_read_in_time() {
    // Every hinge of a chain is rotated by an offset, which moves all later links.
    let n = 6_000;
    let link = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>";
    let joint = |k: usize| {
        let (before, follows) = (k - 1, if k > 1 { "<mimic joint='j1' multiplier='0' offset='0.001'/>" } else { "" });
        format!(
            "<link name='l{k}'>{link}<joint name='j{k}' type='continuous'><origin xyz='1 0 0'/><parent link='l{before}'/><child link='l{k}'/>\
             <axis xyz='0 0 1'/>{follows}</joint>"
        )
    };
    let clock = Instant::now();
    let text = format!("<robot name='r'><link name='l0'/>{}</robot>", (1..=n).map(joint).collect::<String>());
    let loaded = read_model(&text, &ReadOptions::default()).expect("read");
    assert!(clock.elapsed() < Duration::from_secs(4), "{:?}", clock.elapsed());
    // The sum of unit vectors, each rotated by a thousandth more than the previous one.
    let (mut x, mut y) = (1.0, 0.0);
    for k in 1..n {
        let angle = 0.001 * (k - 1) as f64;
        (x, y) = (x + angle.cos(), y + angle.sin());
    }
    let at = loaded.spec.bodies.last().expect("a body").1.at;
    assert!((at[0] - x).abs() < 1e-9 && (at[1] - y).abs() < 1e-9, "{at:?} {x} {y}");
}

#[test]
fn every_cut_of_a_file_is_refused_or_read_without_panic() {
    let texts = [
        super::asmt::slider(),
        "<mujoco><compiler/><worldbody><body name='a'><joint range='0 1'/><geom size='1'/></body></worldbody></mujoco>".to_string(),
        "<sdf version='1.7'><model name='m'><link name='a'><pose>0 0 0 0 0 0</pose></link></model></sdf>".to_string(),
    ];
    for text in texts {
        for k in 0..text.len() {
            if let Some(part) = text.get(..k) {
                let _ = read_model(part, &ReadOptions::default()).map(|l| l.spec.build());
            }
        }
    }
}

#[test]
fn words_of_the_file_changed_at_random_never_panic() {
    let seed = std::env::var("FOURBAR_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20u64);
    println!("seed {seed}");
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let texts = [
        super::asmt::slider(),
        "<mujoco><default><default class='c'><joint damping='1'/></default></default><worldbody><body name='a' childclass='c' euler='1 2 3'><joint name='j' range='0 1' ref='3'/><geom type='capsule' fromto='0 0 0 1 0 0' size='1'/><body name='b' pos='1 0 0'><joint type='ball' name='k'/><geom type='box' size='1 1 1'/></body></body></worldbody><equality><connect body1='b' anchor='0 0 1'/><joint joint1='j'/></equality><actuator><position joint='j' kp='3'/></actuator></mujoco>".to_string(),
        "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/></inertial></link><joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint></robot>".to_string(),
        "<sdf version='1.7'><model name='m'><link name='a'><pose>0 0 0 0 0 0</pose></link><joint name='j' type='revolute'><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>".to_string(),
    ];
    let words = ["", "nan", "1e999", "-1", "a", "j", "0 0 0", "'", "<", ">", "/", "world", "\t", "\n", "1e300 1 1"];
    let clock = Instant::now();
    for round in 0..4000 {
        let text = &texts[round % texts.len()];
        let mut parts: Vec<&str> = text.split_inclusive([' ', '\'', '>', '\n', '\t']).collect();
        for _ in 0..=next(3) {
            let k = next(parts.len());
            match next(3) {
                0 => parts[k] = words[next(words.len())],
                1 => drop(parts.remove(k)),
                _ => {
                    let other = parts[next(parts.len())];
                    parts.insert(k, other);
                }
            }
            if parts.is_empty() {
                parts.push("x");
            }
        }
        let _ = read_model(&parts.concat(), &ReadOptions::default()).map(|l| l.spec.build());
        if clock.elapsed() > Duration::from_secs(20) {
            break;
        }
    }
}

/// The code with which a file in a folder is rejected, within the time limit.
#[track_caller]
fn refused_in(name: &str, files: &[(&str, &str)]) -> &'static str {
    let folder = Folder::new(name, files);
    let clock = Instant::now();
    let e = read_model_file(&folder.0.join(files[0].0), &[]).expect_err("refused");
    assert!(clock.elapsed() < Duration::from_secs(2), "{name}: {:?}", clock.elapsed());
    e.code().0
}

#[test]
fn includes_cannot_make_a_file_deeper_or_larger_than_one_alone() {
    // A hundred files, each of nearly the permitted depth.
    let names: Vec<String> = (0..100).map(|k| format!("f{k}.xml")).collect();
    let texts: Vec<String> = (0..100)
        .map(|k| {
            let next = if k < 99 { format!("<include file='f{}.xml'/>", k + 1) } else { String::new() };
            let root = if k == 0 { "mujoco" } else { "mujocoinclude" };
            format!("<{root}>{}{next}{}</{root}>", "<body>".repeat(450), "</body>".repeat(450))
        })
        .collect();
    let files: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    assert_eq!(refused_in("deep_includes", &files), "M652");
    let large = format!("<mujocoinclude>{}</mujocoinclude>", " ".repeat(1 << 20));
    let main: String = format!("<mujoco>{}</mujoco>", (0..30).map(|k| format!("<include file='l{k}.xml'/>")).collect::<String>());
    let names: Vec<String> = (0..30).map(|k| format!("l{k}.xml")).collect();
    let mut files: Vec<(&str, &str)> = vec![("main.xml", main.as_str())];
    files.extend(names.iter().map(|n| (n.as_str(), large.as_str())));
    assert_eq!(refused_in("large_includes", &files), "M657");
    // Ten files that each include all later ones ten times.
    let names: Vec<String> = (0..10).map(|k| format!("b{k}.xml")).collect();
    let texts: Vec<String> = (0..10)
        .map(|k| {
            let root = if k == 0 { "mujoco" } else { "mujocoinclude" };
            let more: String = (k + 1..10).map(|n| format!("<include file='b{n}.xml'/>")).collect();
            format!("<{root}>{}</{root}>", more.repeat(10))
        })
        .collect();
    let files: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    assert_eq!(refused_in("bomb_of_includes", &files), "M657");
}

#[test]
fn duplicates_and_values_that_are_no_numbers_are_named() {
    let urdf = |link: &str, mass: &str| {
        format!(
            "<robot name='r'><link name='a'/><link name='{link}'><inertial><mass value='{mass}'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link><joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>"
        )
    };
    assert!(read_model(&urdf("b", "1"), &ReadOptions::default()).is_ok());
    assert_eq!(refused(&urdf("a", "1")), "M656");
    for bad in ["nan", "inf", "1e999", "1,5", "", "1 2"] {
        assert_eq!(refused(&urdf("b", bad)), "M651", "{bad}");
    }
    let mjcf = |name: &str, pos: &str| {
        format!(
            "<mujoco><worldbody><body name='a' pos='{pos}'><joint name='j'/><geom size='1'/></body><body name='{name}'><joint/><geom size='1'/></body></worldbody></mujoco>"
        )
    };
    assert!(read_model(&mjcf("b", "0 0 0"), &ReadOptions::default()).is_ok());
    assert_eq!(refused(&mjcf("a", "0 0 0")), "M656");
    assert_eq!(refused(&mjcf("b", "0 nan 0")), "M651");
}

#[test]
fn two_strokes_in_a_comment_do_no_harm() {
    let text = "<robot name='r'><!-- a -- b --- --><link name='a'/><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link><joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>";
    assert_eq!(read(text).spec.bodies.len(), 1);
}

#[test]
fn many_defaults_tendons_and_frames_that_lead_nowhere_are_refused_in_time() {
    let alike = format!(
        "<mujoco><default>{}</default><worldbody><body><joint/>{}</body></worldbody></mujoco>",
        "<geom size='1'/>".repeat(20_000),
        "<geom/>".repeat(20_000)
    );
    assert_eq!(refused(&alike), "M652");
    let joints: String = (0..2_000).map(|k| format!("<body><joint name='j{k}'/><geom size='1'/></body>")).collect();
    let terms: String = (0..2_000).map(|k| format!("<joint joint='j{k}' coef='1'/>")).collect();
    let rope = format!("<fixed stiffness='1'>{terms}</fixed>");
    assert_eq!(refused(&format!("<mujoco><worldbody>{joints}</worldbody><tendon>{rope}</tendon></mujoco>")), "M652");
    // The same joint many times is one joint.
    let again = "<joint joint='j0' coef='1'/>".repeat(20_000);
    let text = format!("<mujoco><worldbody>{joints}</worldbody><tendon><fixed stiffness='1'>{again}</fixed></tendon></mujoco>");
    assert_eq!(read_model(&text, &ReadOptions::default()).expect("read").spec.forces.len(), 1);
    let pulls = "<motor tendon='t'/>".repeat(200);
    let few: String = (0..100).map(|k| format!("<joint joint='j{k}' coef='1'/>")).collect();
    let text = format!(
        "<mujoco><worldbody>{joints}</worldbody><tendon><fixed name='t'>{few}</fixed></tendon><actuator>{pulls}</actuator></mujoco>"
    );
    assert_eq!(refused(&text), "M652");
    let row: String = (1..20_000)
        .map(|k| format!("<frame name='f{k}' attached_to='f{}'><pose relative_to='f{}'>0 0 1 0 0 0</pose></frame>", k - 1, k - 1))
        .collect();
    let text = format!("<sdf version='1.9'><model name='m'>{row}<link name='l'><pose relative_to='f19999'/></link></model></sdf>");
    assert_eq!(refused(&text), "M655");
    let row: String = row.split_inclusive("</frame>").take(5_000).collect();
    let ring = row.replace(" attached_to", " attached_to='l' x");
    let ring = format!("<frame name='f0'><pose relative_to='f5000'/></frame>{ring}");
    assert_eq!(refused(&format!("<sdf version='1.9'><model name='m'>{ring}<link name='l'/></model></sdf>")), "M658");
    let ring = format!("<frame name='f0' attached_to='f5000'><pose relative_to='l'/></frame>{row}");
    assert_eq!(refused(&format!("<sdf version='1.9'><model name='m'>{ring}<link name='l'/></model></sdf>")), "M655");
}
