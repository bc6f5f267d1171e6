//! Modules use only what stands before them in the pipeline.

use std::fs;
use std::path::{Path, PathBuf};

/// The ground floor, which serves all, and the pipeline, first stage first.
const ORDER: [&str; 22] = [
    "error",
    "job",
    "narrow",
    "numbering",
    "ordered",
    "parallel",
    "storage",
    "corpus",
    "annotate",
    "align",
    "orientation",
    "feature",
    "extract",
    "phrase_table",
    "lm",
    "learned",
    "reorder",
    "decode",
    "tune",
    "evaluate",
    "oracle",
    "formats",
];

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("the source folder can be read") {
        let path = entry.expect("an entry of the source folder can be read").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files
}

fn place(module: &str) -> Option<usize> {
    ORDER.iter().position(|name| *name == module)
}

#[test]
fn no_arrow_points_backward() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut arrows = 0;
    for file in rust_files(&root) {
        let inside = file.strip_prefix(&root).unwrap().with_extension("");
        let stage = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let Some(own) = place(&stage) else {
            assert_eq!(stage, "lib", "{}: not in the order of the pipeline", file.display());
            continue;
        };
        for line in fs::read_to_string(&file).unwrap().lines() {
            let Some(rest) = line.trim_start().strip_prefix("use crate::") else { continue };
            let used = rest.split([':', ';', '{', ' ']).next().unwrap_or_default();
            // Capitals are re-exports of `error` and `job`.
            if let Some(used) = place(used) {
                arrows += 1;
                assert!(used <= own, "{}: {stage} uses a later stage: {line}", file.display());
            }
        }
    }
    assert!(arrows > 0, "the test no longer sees any `use crate::` line");
}
