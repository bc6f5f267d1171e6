//! The border between the core and Python: converts, releases the GIL, maps errors.
//!
//! No algorithm lives here. Users import `wayword.<stage>`; only those modules import `_core`.

mod align;
mod align_parts;
mod annotate;
mod annotated;
mod border;
mod corpus;
mod decode;
mod evaluate;
mod extract;
mod feature;
mod lm;
mod lop;
mod neural;
mod oracle;
mod outcome;
mod reorder;
mod source;
mod storage;
mod tune;
mod view;
mod waw;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Panics on purpose, so that a test can see what becomes of a panic.
#[pyfunction]
fn provoke_panic(py: Python<'_>) -> PyResult<()> {
    #[expect(clippy::panic, reason = "that is what it is for")]
    border::enter(py, 1, None, |_| panic!("provoked on purpose"))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    border::silence_panics();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<storage::NewFile>()?;
    module.add_class::<storage::NewFolder>()?;
    module.add_class::<storage::TempFolder>()?;
    module.add_class::<corpus::Bitext>()?;
    module.add_class::<corpus::BitextBuilder>()?;
    module.add_class::<corpus::Reader>()?;
    module.add_class::<annotate::Tagger>()?;
    module.add_class::<annotate::WordClasses>()?;
    module.add_class::<align::Aligner>()?;
    module.add_class::<align::FitOptions>()?;
    module.add_class::<align_parts::AlignTasks>()?;
    module.add_class::<align::Links>()?;
    module.add_class::<lm::LanguageModel>()?;
    module.add_class::<lm::LanguageModelTrainer>()?;
    module.add_class::<view::View>()?;
    module.add_class::<tune::CandidatePool>()?;
    module.add_class::<tune::CandidateStatistics>()?;
    module.add_class::<tune::WeightPoint>()?;
    module.add_class::<extract::PhraseCounts>()?;
    module.add_class::<extract::PhraseTable>()?;
    module.add_class::<reorder::Orientation>()?;
    module.add_class::<decode::Decoder>()?;
    module.add_class::<feature::PathFeature>()?;
    module.add_class::<source::Markup>()?;
    module.add_class::<source::Source>()?;
    module.add_class::<outcome::Outcome>()?;
    module.add_class::<outcome::Translation>()?;
    module.add_class::<outcome::Step>()?;
    module.add_class::<outcome::Statistics>()?;
    module.add_class::<outcome::GraphArc>()?;
    module.add_class::<outcome::ShownStack>()?;
    module.add_class::<outcome::ShownHyp>()?;
    module.add_function(wrap_pyfunction!(corpus::doctor, module)?)?;
    module.add_function(wrap_pyfunction!(corpus::doctor_fingerprints, module)?)?;
    module.add_function(wrap_pyfunction!(corpus::doctor_piece, module)?)?;
    module.add_function(wrap_pyfunction!(corpus::doctor_problems, module)?)?;
    module.add_function(wrap_pyfunction!(corpus::doctor_repeated, module)?)?;
    module.add_function(wrap_pyfunction!(corpus::doctor_scripts, module)?)?;
    module.add_function(wrap_pyfunction!(corpus::without_marks, module)?)?;
    let formats = PyDict::new(module.py());
    for (what, version) in wayword::formats::formats() {
        formats.set_item(what, version)?;
    }
    module.add("FORMATS", formats)?;
    module.add("ALIGN_FEATURES", wayword::align::FEATURES)?;
    module.add("MAX_ALIGNED_WORDS", wayword::align::MAX_WORDS)?;
    module.add("MAX_SENTENCE_WORDS", wayword::decode::MAX_WORDS)?;
    module.add_function(wrap_pyfunction!(align::symmetrisations, module)?)?;
    module.add_function(wrap_pyfunction!(align::symmetrise, module)?)?;
    module.add_function(wrap_pyfunction!(lm::mix_language_models, module)?)?;
    module.add_function(wrap_pyfunction!(lm::estimate_language_model, module)?)?;
    module.add_function(wrap_pyfunction!(reorder::order_from_links, module)?)?;
    module.add_function(wrap_pyfunction!(reorder::orders_from_links, module)?)?;
    module.add_function(wrap_pyfunction!(extract::orientation_counts, module)?)?;
    module.add_function(wrap_pyfunction!(reorder::inverse, module)?)?;
    module.add_function(wrap_pyfunction!(reorder::kendall_distance, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::link_keys, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::ter_edits, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::pair_counts, module)?)?;
    module.add_function(wrap_pyfunction!(extract::import_text_table, module)?)?;
    module.add_class::<annotated::LinkedText>()?;
    module.add_class::<lop::LopModel>()?;
    module.add_class::<lop::LopTrainer>()?;
    module.add_function(wrap_pyfunction!(lop::lop_features, module)?)?;
    module.add_function(wrap_pyfunction!(lop::lop_step, module)?)?;
    module.add_function(wrap_pyfunction!(lop::lop_exact, module)?)?;
    module.add_class::<neural::NeuralModel>()?;
    module.add_class::<neural::NeuralTrainer>()?;
    module.add_class::<waw::WawModel>()?;
    module.add_class::<waw::WawTrainer>()?;
    module.add_function(wrap_pyfunction!(waw::waw_candidates, module)?)?;
    module.add_function(wrap_pyfunction!(waw::waw_write_samples, module)?)?;
    module.add_function(wrap_pyfunction!(waw::waw_evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(waw::waw_features, module)?)?;
    module.add_function(wrap_pyfunction!(waw::waw_options, module)?)?;
    module.add_function(wrap_pyfunction!(waw::waw_reach, module)?)?;
    module.add_function(wrap_pyfunction!(waw::waw_samples, module)?)?;
    module.add_class::<oracle::OracleProblems>()?;
    module.add_function(wrap_pyfunction!(oracle::oracle_space, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::oracle_contains, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::oracle_lattice, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::oracle_nearest, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::oracle_distances, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::oracle_reach, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::oracle_missing, module)?)?;
    module.add_function(wrap_pyfunction!(provoke_panic, module)?)?;
    Ok(())
}
