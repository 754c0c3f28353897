//! What people ask for in each mode, to infer the mode from the meaning of a task.

use foreword::Mode;

/// Examples, in several languages so that no language decides the mode.
pub(crate) const EXAMPLES: &[(Mode, &str)] = &[
    (Mode::Plan, "find out how this works and lay out the options before we change anything"),
    (Mode::Plan, "design an approach and write down the steps"),
    (Mode::Plan, "what would be the best way to do this? compare the alternatives"),
    (Mode::Plan, "pesquise o assunto e faça um plano"),
    (Mode::Plan, "étudie la question et propose un plan d'action"),
    (Mode::Plan, "recherchiere das und entwirf einen Plan"),
    (Mode::Act, "implement the feature and commit it"),
    (Mode::Act, "fix the bug, then run the tests"),
    (Mode::Act, "create the file and send it"),
    (Mode::Act, "corrija o erro e publique a nova versão"),
    (Mode::Act, "corrige l'erreur et déploie la nouvelle version"),
    (Mode::Act, "behebe den Fehler und veröffentliche die neue Version"),
    (Mode::Review, "look over these changes and tell me what is wrong with them"),
    (Mode::Review, "is this correct? point out mistakes and risks"),
    (Mode::Review, "give feedback on the pull request"),
    (Mode::Review, "revise as alterações e aponte os problemas"),
    (Mode::Review, "relis les modifications et signale les problèmes"),
    (Mode::Review, "prüfe die Änderungen und nenne die Schwächen"),
];

/// The mode whose two nearest examples are nearest; `act` where the task is like none of them.
pub(crate) fn nearest(cosines: impl Iterator<Item = (Mode, f32)>) -> Mode {
    /// Below this, a task is like no example: half of what related sentences have.
    const UNLIKE: f32 = 0.2;
    let mut best: [(Mode, f32, f32); 3] =
        [Mode::Act, Mode::Plan, Mode::Review].map(|mode| (mode, 0.0, 0.0));
    for (mode, cosine) in cosines {
        for (of, first, second) in &mut best {
            if *of == mode && cosine > *first {
                (*first, *second) = (cosine, *first);
            } else if *of == mode && cosine > *second {
                *second = cosine;
            }
        }
    }
    let mut winner = (Mode::Act, UNLIKE);
    for (mode, first, second) in best {
        let score = f32::midpoint(first, second);
        if score > winner.1 {
            winner = (mode, score);
        }
    }
    winner.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use foreword_embed::{Embedder, StaticEmbedder};

    #[test]
    fn every_mode_has_as_many_examples() {
        for mode in [Mode::Plan, Mode::Act, Mode::Review] {
            assert_eq!(EXAMPLES.iter().filter(|(of, _)| *of == mode).count(), 6, "{mode:?}");
        }
    }

    #[test]
    fn tasks_without_a_keyword_find_their_mode() {
        let embedder = StaticEmbedder::embedded().unwrap();
        let texts: Vec<&str> = EXAMPLES.iter().map(|(_, text)| *text).collect();
        let examples = embedder.embed(&texts).unwrap();
        for (task, mode) in [
            ("tell me what is wrong with my changes", Mode::Review),
            ("give me feedback on this patch", Mode::Review),
            ("write down the options and compare them before we start", Mode::Plan),
            ("faça um plano para a migração", Mode::Plan),
            ("fix the failing tests and commit", Mode::Act),
            ("corrige l'erreur dans le formulaire", Mode::Act),
            ("xyzzy", Mode::Act),
        ] {
            let vector = embedder.embed(&[task]).unwrap().remove(0);
            let cosines = examples.iter().zip(EXAMPLES);
            let cosines = cosines.map(|(e, (mode, _))| (*mode, vector.cosine(e).unwrap()));
            assert_eq!(nearest(cosines), mode, "{task}");
        }
    }
}
