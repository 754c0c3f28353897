use super::*;
use proptest::prelude::*;
use std::time::Duration;

fn head(name: &str, description: Option<&str>, modified: i64) -> SkillHead {
    SkillHead {
        name: name.into(),
        description: description.map(str::to_owned),
        path: format!("skills/{name}/SKILL.md"),
        root: "skills".into(),
        dir: None,
        invocation: Invocation { model: modified % 2 == 0, people: modified % 3 == 0 },
        digest: [7; 32],
        stamp: FileStamp { size: 3, modified, changed: modified, file: 1, device: 2 },
    }
}

fn known(head: &SkillHead) -> KnownHead {
    KnownHead {
        name: head.name.clone(),
        description: head.description.clone(),
        invocation: head.invocation,
        digest: head.digest,
    }
}

#[test]
fn what_is_written_is_known_under_its_stamp_alone() {
    let heads = [head("a", Some("Ä"), 1), head("b", None, 2), head("c", Some(""), 3)];
    let bytes = encode(heads.iter());
    let cache = Cache::parse(&bytes).unwrap();
    for head in &heads {
        assert_eq!(cache.get(&head.path, &head.stamp), Some(known(head)));
        for other in [
            FileStamp { size: 4, ..head.stamp },
            FileStamp { modified: 9, ..head.stamp },
            FileStamp { changed: 9, ..head.stamp },
            FileStamp { file: 9, ..head.stamp },
            FileStamp { device: 9, ..head.stamp },
        ] {
            assert_eq!(cache.get(&head.path, &other), None);
        }
    }
    assert_eq!(cache.get("skills/d/SKILL.md", &heads[0].stamp), None);
}

#[test]
fn any_damage_makes_a_cache_worthless_and_no_more() {
    let bytes = encode([head("a", Some("x"), 1), head("b", None, 2)].iter());
    for end in 0..bytes.len() {
        assert!(Cache::parse(&bytes[..end]).is_none());
    }
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        assert!(Cache::parse(&damaged).is_none(), "{place}");
    }
    assert!(Cache::parse(&[bytes, vec![0]].concat()).is_none());
}

#[test]
fn a_count_that_lies_reserves_nothing() {
    let body = u32::MAX.to_le_bytes();
    let bytes = [FORMAT, blake3::hash(&body).as_bytes(), &body].concat();
    assert!(Cache::parse(&bytes).is_none());
}

#[test]
fn a_file_that_changed_just_now_is_not_remembered() {
    let now = 1_000_000_000_000_000_000;
    for (changed, settled) in [
        (now - 3_000_000_000, true),
        (now - 1_000_000_000, false),
        (now - 1_000_000_001, true),
        (now - 10_000_001, false),
        (now, false),
        (now + 5, false),
    ] {
        let stamp = FileStamp { changed, ..FileStamp::default() };
        assert_eq!(is_settled(&stamp, now), settled, "{changed}");
    }
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("cache/skills");
    let heads = [head("old", None, 1), head("new", None, 2_000_000_001)];
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(2);
    Cache::default().update(&path, || heads.iter(), time + Duration::from_millis(3));
    let bytes = Cache::read(&path).unwrap();
    let cache = Cache::parse(&bytes).unwrap();
    assert_eq!(cache.records.keys().collect::<Vec<_>>(), [&"skills/old/SKILL.md"]);
    let left: Vec<_> = fs::read_dir(scratch.path().join("cache")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        let bytes = [FORMAT, blake3::hash(&body).as_bytes(), &body].concat();
        let _ = Cache::parse(&bytes);
    }
}
