//! Pools of tools made of retrieval sets.
//!
//! Sets are mixed in one pool, as the servers of a workspace are. Tools with the same name and description
//! are one tool: otherwise each would count as wrong where the other is right. Whatever is drawn is drawn
//! by hash, so the same sets give the same pool.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::retrieval::{Question, Tool, lines};
use crate::error::CliError;

/// A query, with the places of the tools it needs in the list of tools.
pub(super) struct NeededTools {
    pub(super) set: String,
    pub(super) text: String,
    pub(super) tools: BTreeSet<usize>,
}

/// The tools and queries of some sets.
#[derive(Default)]
pub(super) struct ToolSets {
    pub(super) tools: Vec<Tool>,
    /// Every query, in an order of its own.
    pub(super) queries: Vec<NeededTools>,
    /// The place of a tool by name and description.
    known: BTreeMap<(String, String), usize>,
}

/// A pool, and the queries that it has all tools for.
pub(super) struct ToolPool {
    /// Places in the list of all tools.
    pub(super) tools: Vec<usize>,
    /// Places in the list of all queries.
    pub(super) queries: Vec<usize>,
}

impl ToolSets {
    /// Adds the set in a directory: `tools.jsonl` and `queries.jsonl`.
    pub(super) fn add(&mut self, directory: &Path, lang: Option<&str>) -> Result<(), CliError> {
        let set = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let tools: Vec<Tool> = lines(&directory.join("tools.jsonl"), "tools")?;
        let mut places = BTreeMap::new();
        for tool in tools {
            let id = tool.id().to_owned();
            let key = (tool.name.clone(), tool.description.clone());
            let place = *self.known.entry(key).or_insert_with(|| {
                self.tools.push(tool);
                self.tools.len() - 1
            });
            places.insert(id, place);
        }
        let queries: Vec<Question> = lines(&directory.join("queries.jsonl"), "queries")?;
        for query in queries {
            if lang.is_some_and(|lang| query.lang != lang) {
                continue;
            }
            let tools: Option<BTreeSet<usize>> =
                query.relevant.iter().map(|id| places.get(id).copied()).collect();
            if let Some(tools) = tools.filter(|tools| !tools.is_empty()) {
                self.queries.push(NeededTools { set: set.clone(), text: query.text, tools });
            }
        }
        self.queries.sort_by_key(|query| draw("query", &query.text));
        Ok(())
    }

    /// One pool of so many tools. Half of them at most are those that queries need, the others are drawn.
    pub(super) fn mixed(&self, size: usize, max_queries: usize) -> ToolPool {
        let mut asked: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut needed, mut queries) = (BTreeSet::new(), Vec::new());
        for (place, query) in self.queries.iter().enumerate() {
            let count = asked.entry(&query.set).or_default();
            let new = query.tools.difference(&needed).count();
            if *count < max_queries && needed.len() + new <= size / 2 {
                *count += 1;
                needed.extend(query.tools.iter().copied());
                queries.push(place);
            }
        }
        let mut others: Vec<(usize, &Tool)> =
            self.tools.iter().enumerate().filter(|(place, _)| !needed.contains(place)).collect();
        others
            .sort_by_key(|(_, tool)| draw("tool", &format!("{}\n{}", tool.name, tool.description)));
        let free = size.saturating_sub(needed.len());
        let mut tools: Vec<usize> = needed.into_iter().collect();
        tools.extend(others.into_iter().map(|(place, _)| place).take(free));
        ToolPool { tools, queries }
    }

    /// All tools, with the queries of every set.
    pub(super) fn whole(&self, max_queries: usize) -> ToolPool {
        ToolPool {
            tools: (0..self.tools.len()).collect(),
            queries: (0..self.queries.len()).take(max_queries).collect(),
        }
    }

    /// Another query that needs a tool: other words for the same need. Queries that need nothing else come
    /// first. `None` if nobody else asked for it.
    pub(super) fn other_words(&self, query: &NeededTools, tool: usize) -> Option<&str> {
        let others = self.queries.iter();
        let others = others.filter(|it| it.text != query.text && it.tools.contains(&tool));
        let best = others.min_by_key(|it| (it.tools.len(), draw(&query.text, &it.text)));
        best.map(|it| it.text.as_str())
    }
}

/// A number drawn for a text.
fn draw(what: &str, text: &str) -> [u8; 32] {
    blake3::hash(format!("{what}\0{text}").as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(files: &[(&str, &str)]) -> ToolSets {
        let directory = tempfile::tempdir().unwrap();
        let mut sets = ToolSets::default();
        for (name, queries) in files {
            let folder = directory.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            let tools: String = (0..40)
                .map(|n| {
                    format!("{{\"id\": \"{n}\", \"name\": \"t{n}\", \"description\": \"d\"}}\n")
                })
                .collect();
            std::fs::write(folder.join("tools.jsonl"), tools).unwrap();
            std::fs::write(folder.join("queries.jsonl"), queries).unwrap();
            sets.add(&folder, None).unwrap();
        }
        sets
    }

    #[test]
    fn the_same_tool_of_two_sets_is_one_and_pools_have_what_queries_need() {
        let one = "{\"text\": \"a\", \"relevant\": [\"3\"]}\n{\"text\": \"b\", \"relevant\": [\"3\", \"4\"]}";
        let two =
            "{\"text\": \"c\", \"relevant\": [\"4\"]}\n{\"text\": \"d\", \"relevant\": [\"gone\"]}";
        let sets = sets(&[("one", one), ("two", two)]);
        assert_eq!((sets.tools.len(), sets.queries.len()), (40, 3));
        let pool = sets.mixed(10, 5);
        assert_eq!((pool.tools.len(), pool.queries.len()), (10, 3));
        assert!(pool.tools.contains(&3) && pool.tools.contains(&4));
        // Too few places for the tools of all queries.
        assert_eq!(sets.mixed(2, 5).queries.len(), 1);
        let b = sets.queries.iter().find(|query| query.text == "b").unwrap();
        assert_eq!(sets.other_words(b, 3), Some("a"));
        assert_eq!(sets.other_words(b, 4), Some("c"));
        assert_eq!(sets.other_words(b, 9), None);
    }
}
