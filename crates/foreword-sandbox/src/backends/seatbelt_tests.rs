use super::*;
use crate::testing::Place;

#[test]
fn the_profile_denies_by_default_and_what_is_governed_or_private_last() {
    let place = Place::new(&["w/SOUL.md", "w/sub/AGENTS.md"]);
    let mut spec = place.spec(&["SOUL.md", "sub/AGENTS.md"]);
    spec.bridge_ports = Some(4000..=4001);
    let profile = Profile::of(&spec).unwrap();
    let own = profile.text.strip_prefix(BASE).unwrap();
    let outside = |path: &Path| !path.starts_with(&place.root);
    let mut shown = String::new();
    for line in own.lines() {
        let mut line = line.to_owned();
        let mut skip = false;
        for (name, path) in &profile.parameters {
            let parameter = format!("(param \"{name}\")");
            skip |= line.contains(&parameter) && outside(path);
            line = line.replace(&parameter, &place.shown(path));
        }
        if !skip {
            shown.push_str(&line);
            shown.push('\n');
        }
    }
    insta::assert_snapshot!(shown);
    assert!(BASE.starts_with("(version 1)\n(deny default)\n"));
    assert!(
        !BASE.contains("(allow network") && !BASE.contains("/Users") && !BASE.contains("keychain")
    );
}

#[test]
fn nothing_in_a_path_can_be_a_rule() {
    let odd = "a\")) (allow default) ((\n\\'=;,b";
    let place = Place::new(&[&format!("w/{odd}")]);
    let seatbelt = Seatbelt::new("/usr/bin/sandbox-exec".into());
    let command = seatbelt.command(&place.spec(&[odd])).unwrap();
    let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
    assert_eq!(args[0], "-p");
    assert!(
        !args[1].contains("allow default") && !args[1].contains(&place.root.display().to_string())
    );
    let value = format!("={}", place.at("w").join(odd).display());
    assert!(args.iter().any(|arg| arg.starts_with("PATH_") && arg.ends_with(&value)));
    let count = |of: char| args[1].matches(of).count();
    assert_eq!(count('('), count(')'));
    let program = args.iter().rposition(|arg| arg.ends_with("/bin/agent")).unwrap();
    assert_eq!(args[program + 1..], ["agent", "--flag=a b"]);
}
