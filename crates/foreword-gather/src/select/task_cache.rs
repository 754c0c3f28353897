//! Vectors of recent tasks, so that a task that comes again is not embedded again.

use std::collections::VecDeque;

use foreword_embed::{EmbedderId, Vector};

/// The vectors of the tasks asked for most recently, at most so many.
#[derive(Debug, Default)]
pub(crate) struct TaskCache {
    /// Newest last. A hash stands for the task, so that long tasks cost no more than short ones.
    kept: VecDeque<([u8; 32], Vector)>,
}

impl TaskCache {
    /// The vector of a task, if this embedder made one.
    pub(crate) fn get(&mut self, task: &str, id: &EmbedderId) -> Option<Vector> {
        let key = key(task);
        let place =
            self.kept.iter().position(|(known, vector)| *known == key && **vector.id() == *id)?;
        let entry = self.kept.remove(place)?;
        let vector = entry.1.clone();
        self.kept.push_back(entry);
        Some(vector)
    }

    /// Keeps a vector; the one that was not asked for the longest goes.
    pub(crate) fn put(&mut self, task: &str, vector: Vector, most: usize) {
        self.kept.push_back((key(task), vector));
        while self.kept.len() > most {
            self.kept.pop_front();
        }
    }
}

fn key(task: &str) -> [u8; 32] {
    blake3::hash(task.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_task_not_asked_for_the_longest_goes_first() {
        let id = Arc::new(EmbedderId::new("test", "1", 1));
        let vector = |x: f32| Vector::new(Arc::clone(&id), vec![x]).unwrap();
        let mut cache = TaskCache::default();
        cache.put("a", vector(1.0), 2);
        cache.put("b", vector(-1.0), 2);
        assert_eq!(cache.get("a", &id), Some(vector(1.0)));
        cache.put("c", vector(1.0), 2);
        assert_eq!(cache.get("b", &id), None);
        assert!(cache.get("a", &id).is_some() && cache.get("c", &id).is_some());
        assert_eq!(cache.get("a", &EmbedderId::new("test", "2", 1)), None);
        cache.put("d", vector(1.0), 0);
        assert_eq!(cache.get("d", &id), None, "a limit of none keeps none");
    }
}
