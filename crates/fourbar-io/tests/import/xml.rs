//! The XML parser of the importers: values and locations of errors.

use super::*;
use fourbar::Diagnostic;

/// A robot of one hinge; `more` is inserted before its end.
fn robot(more: &str) -> String {
    format!(
        "<robot name='r'>\n<link name='a'/>\n<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>\n\
         <joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint>\n{more}</robot>"
    )
}

#[track_caller]
fn refused(text: &str) -> Diagnostic {
    read_model(text, &ReadOptions::default()).expect_err("refused").cause().clone()
}

#[test]
fn what_is_not_well_formed_is_named_with_its_place() {
    // The text after the fifth line, the column of its error and the message.
    for (more, column, words) in [
        ("<x", 1, "a tag is not closed"),
        ("<x>", 4, "found `</robot>` where `</x>` is expected"),
        ("<x></y></x>", 4, "found `</y>` where `</x>` is expected"),
        ("<1x/>", 2, "cannot be a name"),
        ("< x/>", 2, "the name of an element is expected"),
        ("<x a/>", 5, "`=` is expected"),
        ("<x a=1/>", 6, "stands in quotes"),
        ("<x a='1/>", 6, "a value is not closed"),
        ("<x a='1'b='2'/>", 9, "a blank is expected"),
        ("<x a='1' a='2'/>", 13, "`a` is given twice"),
        ("<x a='<'/>", 7, "write `&lt;`"),
        ("<x a='1 & 2'/>", 9, "write `&amp;`"),
        ("<x a='&nothing;'/>", 7, "`&nothing;` is not defined"),
        ("<x a='&#0;'/>", 7, "`&#0;` is not defined"),
        ("<x/ >", 4, "`>` is expected"),
        ("<x>]]></x>", 4, "`]]>` occurs in a text"),
        ("<!-- ", 1, "a comment is not closed"),
        ("<x>\u{1}</x>", 4, "a control character"),
    ] {
        let d = refused(&robot(more));
        let place = d.place.as_ref().map(|p| (p.line, p.column));
        assert!(d.code.0 == "M650" && d.message.contains(words), "{more}: {d}");
        assert_eq!(place, Some((5, column)), "{more}: {d}");
    }
    for (text, line, column, words) in [
        ("<robot name='r'>\n<link name='a'/>\n", 1, 1, "`<robot>` is not closed"),
        ("<robot/>\n<robot/>", 2, 1, "a second outermost element"),
        ("<robot/>\n  x", 2, 3, "outside the outermost element"),
        ("<robot/></robot>", 1, 9, "`</robot>` does not close anything"),
    ] {
        let d = refused(text);
        assert!(d.code.0 == "M650" && d.message.contains(words), "{text}: {d}");
        assert_eq!(d.place.as_ref().map(|p| (p.line, p.column)), Some((line, column)), "{text}: {d}");
    }
}

#[test]
fn values_are_what_they_stand_for() {
    let text = robot("").replace("'b'", "'&#98;'").replace("<mass value='1'/>", "<mass value=' &#x31;\r\n'/>");
    assert_eq!(read(&text).spec, read(&robot("")).spec);
    // Quotes of either kind, a declaration, instructions, comments and quoted texts.
    let model = |mass: &str| {
        format!(
            "<?xml version=\"1.0\"?>\n<!-- a -- b -->\n<sdf version='1.7'><model name=\"m\"><link name='a'><inertial><mass>{mass}</mass></inertial></link>\
             <joint name='j' type='revolute'><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"
        )
    };
    let plain = read(&model("12.5")).spec;
    for mass in [" 12.5\n", "1<![CDATA[2.5]]>", "<![CDATA[12.5]]>", "<!-- none -->12.5<!-- more -->", "12<?x y?>", "&#49;2.5\r\n"] {
        let other = read(&model(mass)).spec;
        assert_eq!(other == plain, mass != "12<?x y?>", "{mass}");
    }
    let joined = refused(&model("12<!-- a blank -->5"));
    assert!(joined.code.0 == "M651" && joined.message.contains("2 numbers"), "{joined}");
}

#[test]
fn prefixes_need_no_declaration() {
    let with = |declared: &str, tag: &str| {
        let text =
            robot(&format!("<{tag} drake:colour='red' plain='1'><inner/></{tag}>")).replace("<robot ", &format!("<robot {declared} "));
        read(&text).warnings.iter().filter(|w| w.code.0 == "W450").map(|w| w.message.clone()).collect::<Vec<_>>()
    };
    let alone = vec!["`drake_thing` is not converted".to_string()];
    assert_eq!(with("", "drake:thing"), alone);
    assert_eq!(with("xmlns:drake='http://drake.mit.edu' xmlns='http://ros.org'", "drake:thing"), alone);
    // Attributes with a declared prefix are named without it.
    assert!(with("", "gazebo")[0].contains("`drake_colour`, `plain` of `gazebo`"), "{:?}", with("", "gazebo"));
    assert!(with("xmlns:drake='d'", "gazebo")[0].contains("`colour`, `plain` of `gazebo`"), "{:?}", with("xmlns:drake='d'", "gazebo"));
}
