//! `foreword schema`: what agents and their host may say to each other.

use foreword_protocol::{action_schema, actions, schema};

use crate::error::CliError;
use crate::terminal::Terminal;

pub(crate) fn run(action: Option<&str>, terminal: &Terminal) -> Result<(), CliError> {
    let Some(name) = action else { return terminal.print_json(&schema()) };
    let found = actions().iter().find(|action| action.name == name);
    let Some(found) = found else {
        let names = actions().iter().map(|action| action.name);
        let hint = match foreword::nearest(name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
        };
        return Err(CliError::usage(format!("there is no action `{name}`")).hint(hint));
    };
    terminal.print_json(&action_schema(found))
}
