//! Storing and recalling, against a real database and the embedded table.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    missing_docs
)]

use std::path::PathBuf;

use foreword_memory::{
    KindFilter, Memories, MemoryEngine, MemoryKind, MemoryScope, NewEntry, Recall, Recalled,
};
use foreword_semantic::{Embedder as _, StaticEmbedder, Vector};
use foreword_store::{Added, AuditKey, Durability, Heads, LogFilter, Options, Store};
use tempfile::TempDir;

const NOW: i64 = 1_772_000_000_000;
const DAY: i64 = 86_400_000;

struct Fixture {
    workspace: TempDir,
    config: TempDir,
    embedder: StaticEmbedder,
}

impl Fixture {
    fn new() -> Self {
        Self {
            workspace: tempfile::tempdir().unwrap(),
            config: tempfile::tempdir().unwrap(),
            embedder: StaticEmbedder::embedded().unwrap(),
        }
    }

    fn with(texts: &[&str]) -> Self {
        let fixture = Self::new();
        texts.iter().for_each(|text| drop(fixture.add(NewEntry::new(*text))));
        fixture
    }

    fn database(&self) -> PathBuf {
        self.workspace.path().join("foreword.db")
    }

    fn store(&self) -> Store {
        let config = self.config.path().join("foreword");
        let key = AuditKey::load_or_create(&config).unwrap();
        let options = Options { durability: Durability::Fast, ..Options::default() };
        Store::open_with(&self.database(), key, Heads::new(&config), options).unwrap()
    }

    fn add(&self, entry: NewEntry) -> Added {
        let store = self.store();
        let batch = Memories::new(&store, Some(&self.embedder)).add("user:ada", NOW, entry);
        batch.unwrap().added.remove(0)
    }

    fn engine(&self) -> MemoryEngine {
        MemoryEngine::open_read(&self.database()).unwrap().unwrap()
    }

    fn vector(&self, text: &str) -> Vector {
        self.embedder.embed(&[text]).unwrap().remove(0)
    }

    fn recall(&self, text: &str, change: impl Fn(Recall<'_>) -> Recall<'_>) -> Recalled {
        let vector = self.vector(text);
        let recall = Recall { vector: Some(&vector), ..Recall::new(text, NOW) };
        self.engine().recall(&change(recall)).unwrap()
    }
}

fn texts(recalled: &Recalled) -> Vec<&str> {
    recalled.hits.iter().map(|hit| hit.entry.text.as_str()).collect()
}

#[test]
fn no_database_and_no_memories_are_nothing() {
    let fixture = Fixture::new();
    assert!(MemoryEngine::open_read(&fixture.database()).unwrap().is_none());
    assert!(!fixture.database().exists());
    drop(fixture.store());
    assert!(MemoryEngine::open_read(&fixture.database()).unwrap().is_none());
}

#[test]
fn a_memory_is_found_by_meaning_and_by_words() {
    let fixture = Fixture::with(&[
        "Ada prefers tabs over spaces for indentation",
        "The production database runs on Postgres 16",
        "Our cat is called Minka",
    ]);
    let found = fixture.recall("which version of Postgres runs in production?", |r| r);
    assert_eq!(texts(&found)[0], "The production database runs on Postgres 16");
    assert!(found.with_vectors && found.visible == 3 && found.without_vector == 0);
    assert!(found.hits[0].vector.is_some());
    let words = fixture.recall("minka", |r| Recall { vector: None, ..r });
    assert_eq!(texts(&words), ["Our cat is called Minka"]);
    assert!(!words.with_vectors);
    assert!(fixture.recall("", |r| r).hits.is_empty());
}
