//! The contents and order of a selection.

use std::sync::Arc;

use proptest::prelude::*;

use crate::index::lexical::LexicalIndex;
use crate::index::named::NameIndex;
use crate::index::vectors::VectorIndex;
use crate::index::words::embedding_text;
use crate::select::selector::{Item, Kind, Limits, Query, Reason, Selection, Selector};
use foreword_embed::{Embedder as _, EmbedderId, StaticEmbedder, Vector};

fn id(name: &str) -> Arc<EmbedderId> {
    Arc::new(EmbedderId::new(name, "test", 4))
}

fn vector(values: [f32; 4]) -> Vector {
    Vector::new(id("static"), values.to_vec()).unwrap()
}

fn items(vectors: &[Vector]) -> Vec<Item<'_>> {
    let item = |(kind, name, text): (Kind, &'static str, &'static str), place: usize| Item {
        kind,
        name,
        text,
        vector: vectors.get(place),
    };
    vec![
        item((Kind::Tool, "play_music", "Plays a song"), 0),
        item((Kind::Tool, "set_alarm", "Rings at a time"), 1),
        item((Kind::Tool, "git_commit", "Records changes"), 2),
        item((Kind::Skill, "refactor", "Improves the structure of code"), 3),
        item((Kind::Skill, "release-notes", "Writes what changed"), 4),
    ]
}

fn vectors() -> Vec<Vector> {
    [[1., 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0.], [0., 0., 0.9, 0.4], [0., 0., 0.8, 0.6]]
        .map(vector)
        .into()
}

fn picked(selection: &Selection) -> Vec<(usize, &[Reason])> {
    selection.picked.iter().map(|picked| (picked.index, &picked.reasons[..])).collect()
}

#[test]
fn named_then_base_then_found() {
    let vectors = vectors();
    let selector = Selector::new(&items(&vectors)).unwrap();
    let task = vector([0., 0., 1., 0.]);
    let query = Query {
        text: "run set_alarm, then save my work",
        vector: Some(&task),
        mode_base: &[0, 4, 99],
        offered: &[],
    };
    let selection = selector.select(&query, &Limits::default()).unwrap();
    let expected: [(usize, &[Reason]); 5] = [
        (1, &[Reason::Named, Reason::Score]),
        (0, &[Reason::Base]),
        (2, &[Reason::Score]),
        (4, &[Reason::Base, Reason::Score]),
        (3, &[Reason::Score]),
    ];
    assert_eq!(picked(&selection), expected);
    assert!(selection.with_vectors && selection.abstained.is_empty());
    for picked in &selection.picked {
        assert_eq!(picked.score, picked.parts.total());
    }
}

#[test]
fn limits_cut_what_was_merely_found() {
    let vectors = vectors();
    let selector = Selector::new(&items(&vectors)).unwrap();
    let task = vector([0., 0., 1., 0.]);
    let query = Query {
        text: "use set_alarm and play_music",
        vector: Some(&task),
        mode_base: &[],
        offered: &[],
    };
    let limits = Limits { max_tools: 2, max_skills: 1, max_results: 5, min_score: None };
    let selection = selector.select(&query, &limits).unwrap();
    assert_eq!(selection.picked.iter().map(|p| p.index).collect::<Vec<_>>(), [0, 1, 3]);
    let none = Limits { max_tools: 0, max_skills: 0, max_results: 0, min_score: None };
    assert!(selector.select(&query, &none).unwrap().picked.is_empty());
}

#[test]
fn nothing_is_picked_where_nothing_fits() {
    let vectors = vectors();
    let selector = Selector::new(&items(&vectors)).unwrap();
    let task = vector([-1., -1., -1., -1.]);
    let query = Query { text: "zzz", vector: Some(&task), mode_base: &[], offered: &[] };
    let selection = selector.select(&query, &Limits::default()).unwrap();
    assert!(selection.picked.is_empty());
    assert_eq!(selection.abstained, [Kind::Tool, Kind::Skill]);
    let all = Limits { min_score: Some(f32::NEG_INFINITY), ..Limits::default() };
    assert_eq!(selector.select(&query, &all).unwrap().picked.len(), 5);
}

#[test]
fn words_are_enough_where_there_are_no_vectors() {
    let selector = Selector::new(&items(&[])).unwrap();
    let query = Query { text: "please play a song", vector: None, mode_base: &[], offered: &[] };
    let selection = selector.select(&query, &Limits::default()).unwrap();
    assert!(!selection.with_vectors);
    assert_eq!(picked(&selection)[0], (0, &[Reason::Score][..]));

    // Some items without a vector, or a query without one, are no trouble either.
    let vectors = vectors();
    let some = Selector::new(&items(&vectors[..2])).unwrap();
    let task = vector([1., 0., 0., 0.]);
    assert_eq!(some.rank("anything", Some(&task)).unwrap()[0].index, 0);
    let zero = vector([0.; 4]);
    let query = Query { text: "play a song", vector: Some(&zero), mode_base: &[], offered: &[] };
    assert!(!some.select(&query, &Limits::default()).unwrap().with_vectors);
}

#[test]
fn vectors_of_another_embedder_are_refused() {
    let vectors = vectors();
    let selector = Selector::new(&items(&vectors)).unwrap();
    let stranger = Vector::new(id("use"), vec![1.0; 4]).unwrap();
    assert!(selector.rank("x", Some(&stranger)).is_err());
    let mixed = vec![vectors[0].clone(), stranger];
    assert!(Selector::new(&items(&mixed)).is_err());
}

#[test]
fn an_embedder_nobody_measured_is_scaled_and_does_not_abstain_among_a_handful() {
    // All cosines lie close together, as those of some large models do.
    let near = |x: f32, y: f32| Vector::new(id("http"), vec![1.0, 1.0, x, y]).unwrap();
    let vectors = [near(0., 0.), near(0.1, 0.), near(0., 0.1), near(0.2, 0.1), near(0.1, 0.3)];
    let selector = Selector::new(&items(&vectors)).unwrap();
    assert!(selector.calibration.scale > 1.0);
    let query = Query { text: "zzz", vector: Some(&vectors[1]), mode_base: &[], offered: &[] };
    let selection = selector.select(&query, &Limits::default()).unwrap();
    assert_eq!(selection.picked[0].index, 1);
    assert!(selection.abstained.is_empty());
}

#[test]
fn ties_go_by_place_and_names_come_first_in_a_ranking() {
    let selector = Selector::new(&items(&[])).unwrap();
    let order =
        |text: &str| selector.rank(text, None).unwrap().iter().map(|r| r.index).collect::<Vec<_>>();
    assert_eq!(order("zzz"), [0, 1, 2, 3, 4]);
    assert_eq!(order("play a song with git_commit")[0], 2);
}

#[test]
fn what_is_close_to_everything_is_held_back_where_words_are_strange() {
    // The first tool lies between all others, the second one far out.
    let vectors = [[0.6, 0.6, 0.5, 0.1], [0., 1., 0., 0.]].map(vector);
    let plain = Selector::new(&items(&vectors)).unwrap();
    let background = [[1., 0., 0., 0.], [0., 0., 1., 0.], [0.5, 0.5, 0.5, 0.]].map(vector);
    let selector = Selector::new(&items(&vectors)).unwrap().with_background(&background).unwrap();
    let task = vector([0.55, 0.6, 0.1, 0.]);
    let first = |selector: &Selector, text: &str| selector.rank(text, Some(&task)).unwrap()[0];
    assert_eq!((first(&plain, "zzz").index, first(&selector, "zzz").index), (0, 0));
    assert!(first(&selector, "zzz").score < first(&plain, "zzz").score);
    // Where the words are known, nothing changes.
    assert_eq!(first(&selector, "song"), first(&plain, "song"));
    // What was stored is what was found; what does not fit is left out.
    let mut stored = selector.vectors().unwrap().clone();
    let found = stored.background_numbers();
    assert_eq!(found.len(), 6, "one for each item, and one for all");
    stored.set_background_numbers(vec![0.0]);
    assert!(stored.hubness().is_empty());
    stored.set_background_numbers(found.clone());
    assert_eq!(stored.background_numbers(), found);
    let stranger = Vector::new(id("use"), vec![1.0; 4]).unwrap();
    assert!(Selector::new(&items(&vectors)).unwrap().with_background(&[stranger]).is_err());
}

#[test]
fn a_stored_selector_is_the_same() {
    let vectors = vectors();
    let selector = Selector::new(&items(&vectors)).unwrap();
    let lexical = LexicalIndex::from_bytes(&selector.lexical().to_bytes()).unwrap();
    let names = NameIndex::from_bytes(&selector.names().to_bytes()).unwrap();
    let stored = selector.vectors().unwrap();
    let loaded = VectorIndex::from_stored(Arc::clone(stored.id()), stored.values().to_vec());
    let kinds = selector.kinds().to_vec();
    let again = Selector::from_parts(kinds, lexical, names, loaded.ok()).unwrap();
    assert_eq!(again.calibration, selector.calibration);
    for text in ["play a song", "run set_alarm", "zzz", ""] {
        let task = Some(&vectors[2]);
        assert_eq!(again.rank(text, task), selector.rank(text, task));
    }

    let lexical = LexicalIndex::new(std::iter::empty());
    let names = NameIndex::new(["x"].into_iter());
    let message = Selector::from_parts(vec![Kind::Tool], lexical, names, None).unwrap_err();
    assert_eq!(
        message.to_string(),
        "the index covers 1 items in one part and 0 in another; run `foreword index`"
    );
}

proptest! {
    #[test]
    fn a_selection_keeps_its_promises(
        text in "[a-z_ ]{0,30}|.{0,20}",
        base in prop::collection::vec(0_usize..7, 0..4),
        max_tools in 0_usize..4,
        max_skills in 0_usize..3,
        max_results in 0_usize..4,
    ) {
        let vectors = vectors();
        let items = items(&vectors);
        let selector = Selector::new(&items).unwrap();
        let query = Query { text: &text, vector: Some(&vectors[2]), mode_base: &base, offered: &[] };
        let limits = Limits { max_tools, max_skills, max_results, min_score: None };
        let selection = selector.select(&query, &limits).unwrap();
        let of = |kind| selection.picked.iter().filter(|p| items[p.index].kind == kind).count();
        prop_assert!(of(Kind::Tool) <= max_tools && of(Kind::Skill) <= max_skills);
        let mut seen: Vec<usize> = selection.picked.iter().map(|p| p.index).collect();
        seen.sort_unstable();
        seen.dedup();
        prop_assert_eq!(seen.len(), selection.picked.len());
        for picked in &selection.picked {
            prop_assert!(!picked.reasons.is_empty());
            prop_assert!(picked.reasons != [Reason::Score] || picked.score >= selection.min_score);
        }
        prop_assert_eq!(&selection, &selector.select(&query, &limits).unwrap());
    }
}

#[test]
fn requests_are_closer_to_their_tools_with_the_map_than_without() {
    let tools = [
        ("get_state", "Gets or checks the state of an entity"),
        ("set_timer", "Starts a countdown"),
        ("transfer", "Moves funds between accounts"),
        ("get_forecast", "Returns the weather forecast for a location"),
        ("play_media", "Plays audio on a device"),
        ("create_event", "Creates an event in the calendar"),
        ("send_email", "Sends an email to a recipient"),
        ("convert_currency", "Converts an amount from one currency to another"),
    ];
    let requests = [
        ("is the garage still open", 0),
        ("a janela do escritório ficou aberta?", 0),
        ("est-ce que le chauffage est allumé", 0),
        ("ist die Haustür abgeschlossen", 0),
        ("tell me when ten minutes are over", 1),
        ("avise-me daqui a vinte minutos", 1),
        ("préviens-moi dans cinq minutes", 1),
        ("I owe Anna 50, pay her from my savings", 2),
        ("do I need an umbrella on Sunday", 3),
        ("vai chover no Porto no sábado?", 3),
        ("put on something by Miles Davis", 4),
        ("mets du jazz dans le salon", 4),
        ("block Thursday afternoon for the dentist", 5),
        ("marca dentista para quinta à tarde", 5),
        ("let the landlord know in writing that the tap drips", 6),
        ("how many yen do I get for 200 francs", 7),
    ];
    let table = StaticEmbedder::embedded().unwrap();
    // How far the right tool is ahead of the best other one, on average, for vectors under this id.
    let lead = |id: &Arc<EmbedderId>| {
        let embed = |text: &str| {
            let vector = table.embed(&[text]).unwrap().remove(0);
            Vector::new(Arc::clone(id), vector.values().to_vec()).unwrap()
        };
        let vectors = tools.map(|(name, text)| embed(&embedding_text(name, text)));
        let items: Vec<Item<'_>> = tools
            .iter()
            .zip(&vectors)
            .map(|((name, text), vector)| Item {
                kind: Kind::Tool,
                name,
                text,
                vector: Some(vector),
            })
            .collect();
        let selector = Selector::new(&items).unwrap();
        let leads = requests.map(|(text, right)| {
            let ranking = selector.rank(text, Some(&embed(text))).unwrap();
            let best =
                |ours: bool| ranking.iter().find(|r| (r.index == right) == ours).unwrap().score;
            best(true) - best(false)
        });
        leads.iter().sum::<f32>() / leads.len() as f32
    };
    let with = lead(table.id());
    // The map is for one table: vectors of another are compared as they are.
    let without = lead(&Arc::new(EmbedderId::new("static", "another", table.id().dims)));
    assert!(with > without + 0.02, "{with} with the map, {without} without");
}

/// Exemplars know the table's vectors, so these are real.
#[test]
fn nothing_is_picked_where_exemplars_know_that_nothing_fits() {
    let table = StaticEmbedder::embedded().unwrap();
    let tools = [
        ("weather_forecast", "Get the weather forecast for a city"),
        ("set_alarm", "Set an alarm for a time"),
        ("play_music", "Play a song or a playlist"),
    ];
    let texts = tools.map(|(name, text)| embedding_text(name, text));
    let vectors = table.embed(&texts.each_ref().map(String::as_str)).unwrap();
    let items: Vec<Item<'_>> = tools
        .iter()
        .zip(&vectors)
        .map(|((name, text), vector)| Item { kind: Kind::Tool, name, text, vector: Some(vector) })
        .collect();
    let plain = Selector::new(&items).unwrap();
    let requests = crate::select::background::background(&table).unwrap();
    let selector = Selector::new(&items).unwrap().with_background(&requests).unwrap();
    let ask = |selector: &Selector, text: &str, min_score: Option<f32>| {
        let vector = table.embed(&[text]).unwrap().remove(0);
        let query = Query { text, vector: Some(&vector), mode_base: &[], offered: &[] };
        let found = selector.select(&query, &Limits { min_score, ..Limits::default() }).unwrap();
        assert_eq!(found.fit, selector.fit(text, Some(&vector)).unwrap());
        found
    };
    for text in ["wake me up at seven", "mets le réveil à sept heures", "will it rain in Paris"] {
        assert!(!ask(&selector, text, None).picked.is_empty(), "{text}");
    }
    let outside = "how do I get a refund for a cancelled invoice";
    let (inside, outside_fit) =
        (ask(&selector, "will it rain in Paris", None).fit, ask(&selector, outside, None).fit);
    assert!(inside > outside_fit + 0.3, "{inside} {outside_fit}");
    assert!(ask(&selector, outside, None).picked.is_empty());
    // A threshold of one's own is the only one.
    assert_eq!(ask(&selector, outside, Some(-1.0)).picked.len(), 3);
    // Without the background it is not known how close the closest is by chance.
    assert!(ask(&plain, outside, None).fit > outside_fit);
}
