//! File sections that say how often they change.

use foreword::{Blueprint, Context};

fn blueprint(text: &str) -> Result<Blueprint, String> {
    Blueprint::from_toml("own.toml", text, &mut |_| Err(std::io::ErrorKind::NotFound.into()))
        .map_err(|error| error.to_string())
}

const TURN_FILE: &str = "name = 'own'\nturn_context = true\n\
    [[module]]\nname = 'now'\nfile = 'now.md'\npriority = 1\nvolatility = 'turn'\n\
    [[module]]\nname = 'rules'\nfile = 'rules.md'\npriority = 50\n";

#[test]
fn a_file_that_changes_every_turn_stands_behind_the_system_prompt() {
    let files = r#"{"files": {"now.md": "Now: noon", "rules.md": "Be kind."}}"#;
    let context = Context::from_json(files).unwrap();
    let prompt = blueprint(TURN_FILE).unwrap().build(&context);
    assert_eq!((prompt.system(), prompt.turn_context()), ("Be kind.", "Now: noon"));
    let stable = blueprint(&TURN_FILE.replace("volatility = 'turn'", "volatility = 'stable'"));
    let prompt = stable.unwrap().build(&context);
    assert_eq!((prompt.system(), prompt.turn_context()), ("Now: noon\n\nBe kind.", ""));
}

#[test]
fn only_files_have_a_volatility_of_their_own() {
    let error = blueprint(
        "name = 'own'\nextends = 'standard'\n[[module]]\nname = 'clock'\nvolatility = 'stable'\n",
    );
    assert!(error.unwrap_err().contains("`volatility` of module `clock` need a `file`"));
    let error = blueprint(&TURN_FILE.replace("'turn'\n", "'often'\n")).unwrap_err();
    assert!(error.contains("often"), "{error}");
}
