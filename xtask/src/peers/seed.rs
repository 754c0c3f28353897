//! The TypeScript builder of seed 000, taken out of the document at run time.
//!
//! The document is a plan in steps: it shows each file once and then changes `builder.ts` twice. The
//! result is the builder as it stands at the end of the plan. Nothing of it is kept in the repository.

use std::collections::BTreeMap;

use crate::error::TaskError;

const BUILDER: &str = "builder.ts";
const FOLDER: &str = "// src/agent/prompt/";

/// The files below `src/agent/prompt/` as they stand at the end of the plan.
pub(super) fn sources(document: &str) -> Result<BTreeMap<String, String>, TaskError> {
    let blocks = typescript_blocks(document);
    let mut files = BTreeMap::new();
    for block in &blocks {
        let Some((title, _)) = block.split_once('\n') else { continue };
        let Some(path) = title.trim().strip_prefix(FOLDER) else { continue };
        if path.chars().all(|c| c.is_ascii_alphanumeric() || "/-.".contains(c))
            && !path.contains("..")
        {
            files.insert(path.to_owned(), block.clone());
        }
    }
    let builder = files.get(BUILDER).ok_or_else(|| unexpected("there is no builder.ts in it"))?;
    let builder = finish(builder, &blocks)?;
    files.insert(BUILDER.to_owned(), builder);
    Ok(files)
}

/// Applies the two later steps: the budget, and the tokens by module.
fn finish(builder: &str, blocks: &[String]) -> Result<String, TaskError> {
    let step = |mark: &str| {
        blocks
            .iter()
            .find(|block| block.trim_start().starts_with(mark))
            .ok_or_else(|| unexpected(&format!("no step starts with `{mark}`")))
    };
    let budget = step("import { allocateModules }")?;
    let (import, allocation) = budget
        .split_once("// In build():")
        .ok_or_else(|| unexpected("the step that adds the budget is another one"))?;
    let metadata = blocks
        .iter()
        .find(|block| {
            block.trim_start().starts_with("export interface PromptMetadata")
                && block.contains("tokensByModule")
        })
        .ok_or_else(|| unexpected("no step adds `tokensByModule`"))?;
    let counting = step("const tokensByModule")?;

    let text = replace(builder, "    const active = this.modules", ";\n", allocation)?;
    let text = replace(&text, "export interface PromptMetadata {", "\n}\n", metadata)?;
    let text = replace(&text, "    for (const mod of active) {", "\n    }\n", counting)?;
    let text = replace(
        &text,
        "buildTimeMs: Date.now()",
        ",",
        "buildTimeMs: Date.now() - start, tokensByModule,",
    )?;
    Ok(format!("{import}\n{text}"))
}

/// Replaces what starts with `from` and ends with the next `to`.
fn replace(text: &str, from: &str, to: &str, with: &str) -> Result<String, TaskError> {
    let missing = || unexpected(&format!("builder.ts has no `{}`", from.trim()));
    let (before, rest) = text.split_once(from).ok_or_else(missing)?;
    let (_, after) = rest.split_once(to).ok_or_else(missing)?;
    Ok(format!("{before}{with}\n{after}"))
}

fn unexpected(what: &str) -> TaskError {
    TaskError::usage(format!("the seed document is not the one expected: {what}"))
}

fn typescript_blocks(document: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in document.lines() {
        match &mut open {
            None if line.trim() == "```typescript" => open = Some(String::new()),
            None => {}
            Some(_) if line.trim() == "```" => blocks.extend(open.take()),
            Some(block) => {
                block.push_str(line);
                block.push('\n');
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "\
```typescript
// src/agent/prompt/types.ts
export type A = 1;
```
```typescript
// tests/agent/prompt/types.test.ts
```
```typescript
// src/agent/prompt/builder.ts
export interface PromptMetadata {
  modules: string[];
}
class B {
  build() {
    const active = this.modules.filter(m => m.on);
    for (const mod of active) {
      old();
    }
    return {
        buildTimeMs: Date.now() - start,
    };
  }
}
```
```typescript
import { allocateModules } from './budget.js';

// In build():
const active = allocateModules(eligible);
```
```typescript
export interface PromptMetadata {
  tokensByModule: Record<string, number>;
}
```
```typescript
const tokensByModule = {};
for (const mod of active) { count(); }
```
";

    #[test]
    fn the_builder_is_the_one_at_the_end_of_the_plan() {
        let files = sources(DOCUMENT).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["builder.ts", "types.ts"]);
        let builder = &files["builder.ts"];
        for kept in [
            "allocateModules(eligible)",
            "tokensByModule: Record",
            "count();",
            "start, tokensByModule,",
        ] {
            assert!(builder.contains(kept), "{kept} is not in\n{builder}");
        }
        for gone in ["filter(", "modules: string[]", "old();"] {
            assert!(!builder.contains(gone), "{gone} is still in\n{builder}");
        }
    }

    #[test]
    fn another_document_is_refused() {
        let error = sources("# Nothing").unwrap_err().to_string();
        assert!(error.contains("there is no builder.ts in it"), "{error}");
    }
}
