//! The ranking and the decoder's seat against the definitions' examples.

use super::*;
use crate::Job;
use crate::align::Link as Tie;
use crate::corpus::SrcPos;
use crate::corpus::annotated::{Annotation, Sentence};
use crate::feature::{
    Coverage, NamedMatrix, OptionAlignment, OptionId, PathFeature, SourceSentence, Span,
};
use crate::reorder::{Corpus, Shaped};

/// Finds all words alike, and chooses among those in a window.
struct Alike(Window);

impl Judge for Alike {
    fn needs(&self) -> Annotation {
        Annotation::default()
    }

    fn window(&self) -> Window {
        self.0
    }

    fn rater<'a>(&'a self, src: &Sentence<'_>) -> Rater<'a> {
        let cells = vec![0.5; (src.len() + 1) * src.len()];
        Rater::new(Matrix::given(src.len(), &cells), &[], Link::Choice(self.0))
    }
}

/// A corpus of one sentence with this order, from 1.
fn ordered(order: &[u32]) -> Corpus {
    let links = order.iter().zip(0..).map(|(&word, rank)| Tie::new(word - 1, rank));
    let mut corpus = Corpus::default();
    let words = Sentence::of_words(std::iter::repeat_n("a", order.len()));
    corpus.push(&words, &links.collect::<Vec<_>>()).unwrap();
    corpus
}

// ---- ranking ----

#[test]
fn long_jumps_count_within_the_limit_and_among_what_can_be_reached() {
    // 10 words: 9 and 10 first, then back to 1 over 10 words; 8 comes after 1: forward over 6.
    let order = [9, 10, 1, 8, 2, 3, 4, 5, 6, 7];
    let model = Alike(Window { width: 18, inclusive: true });
    let (_, compared) = evaluate(&model, &ordered(&order), &[10, 7], &Job::new(1)).unwrap();
    let [wide, narrow] = [0, 1].map(|at: usize| compared[at].distance);
    // Start to 9: forward over 8, by distance the last of nine. 10 to 1: back over 10, after 8 … 2.
    assert_eq!(wide.long_forward, Places { decisions: 1, first: 0, among_three: 0 });
    assert_eq!(wide.long_back, Places { decisions: 1, first: 0, among_three: 0 });
    assert_eq!(wide.beyond, 0);
    // Within 7 neither is a decision any more, but both are errors of the limit.
    assert_eq!((narrow.long_forward, narrow.long_back), Default::default());
    assert_eq!(narrow.beyond, 2);
    // 1 to 8 is forward over 6 and back to 2 over 7: not long.
    // From the start to 8, then back to 1: with a limit of 8 only 1, the first gap, and words up
    // to 8 - 1 + 8 can be reached; 9 comes first by distance, 10 second, and 1 is behind them.
    let order = [8, 9, 1, 2, 3, 4, 5, 6, 7, 10, 11];
    let (_, compared) = evaluate(&model, &ordered(&order), &[9, 18], &Job::new(1)).unwrap();
    // After 9, back over 9 to 1. 10 to 11 would be too far from 1 to come back: D(10, 1) = 10 > 9;
    // only 8 - … 1 with D(u, 1) = u <= 9 are left: 2 … 7 are nearer than 1.
    assert_eq!(compared[0].distance.long_back, Places { decisions: 1, first: 0, among_three: 0 });
}

#[test]
fn pruning_is_judged_along_the_right_order() {
    let model = Alike(Window { width: 18, inclusive: true });
    let spaces = ["dl:-1", "dl:2", "mono", "dl:-1+x(top=1,threshold=0,zone=-1)"]
        .map(|name| Shaped::named(name).unwrap());
    let found = reach(&model, &ordered(&[2, 3, 1, 4]), &spaces, &Job::new(1)).unwrap();
    // Unlimited: 4 + 3 + 2 + 1 words may come next.
    assert_eq!((found[0].candidates, found[0].all, found[0].whole), (10, kept(4, 4), 1));
    // A limit of 2, and the first gap must stay within reach of a word's end: from the start 1
    // and 2; after 2 only 1, from 3 there is no way back; after 3 nothing; after 1 at last 4.
    assert_eq!((found[1].candidates, found[1].all, found[1].whole), (4, kept(4, 2), 0));
    // Source order: the first gap may come, which is right at the third step and the last.
    assert_eq!((found[2].candidates, found[2].all), (4, kept(4, 2)));
    // All alike, the nearest stays: 1; 3; 4; 4.
    assert_eq!((found[3].candidates, found[3].all), (4, kept(4, 2)));
    let itg = [Shaped::named("itg").unwrap()];
    assert_eq!(
        reach(&model, &ordered(&[1]), &itg, &Job::new(1)).unwrap_err().to_string(),
        "space: found `itg`; expected `mono`, `dl:K` or `ibm:K`, pruned or not"
    );
}

fn kept(steps: u64, kept: u64) -> Kept {
    Kept { steps, kept }
}

#[test]
fn distance_ranks_the_words_in_the_order_of_the_specification() {
    // Order 2 3 1 4 6 5 (from 1), by distance: places of the right word at each step.
    // 0→2: D 1, 1 has 0: second. 2→3: first. 3→1: D 3; 4 (0), 5 (1), 6 (2) before it: fourth.
    // 1→4: first of {4 (2), 5, 6}. 4→6: D 1, 5 (0) before it: second. 6→5: first.
    let mut corpus = Corpus::default();
    let links = [(0, 2), (1, 0), (2, 1), (3, 3), (5, 4), (4, 5)];
    let links: Vec<Tie> = links.map(|(src, tgt)| Tie::new(src, tgt)).to_vec();
    corpus.push(&Sentence::of_words(["a"; 6]), &links).unwrap();
    // A model to which all words are alike falls back on distance.
    let model = Alike(Window { width: 10, inclusive: true });
    let (decided, compared) = evaluate(&model, &corpus, &[10, 2], &Job::new(1)).unwrap();
    // Of n words left each has a share of 1/n: only the last two steps are sure enough.
    assert_eq!((decided.found, decided.missed), (2, 4));
    let [wide, narrow] = [0, 1].map(|at: usize| compared[at].distance);
    assert_eq!(wide.all, Places { decisions: 6, first: 3, among_three: 5 });
    assert_eq!((wide.beyond, narrow.beyond), (0, 1));
    assert_eq!(narrow.all, Places { decisions: 6, first: 3, among_three: 5 });
    assert_eq!(wide.long_back, Places::default());
    for Compared { model, distance, first_squares, among_three_squares } in compared {
        assert_eq!(model, distance);
        assert_eq!((first_squares, among_three_squares), (0, 0));
    }
}

// ---- the decoder's seat ----

#[test]
fn hope_is_the_best_jump_and_its_loss_that_of_the_word_before() {
    // Rows: the start and seven words; from word 1 to word 7 is too far to be looked at.
    let score = |from: u32, to: u32| match (from, to) {
        (1, 2) => -0.5,
        (4, 2) => -0.75,
        (2, 3) => -3.0,
        (5, 3) => -1.0,
        (1, 7) => -0.125,
        _ => -2.0,
    };
    let cells: Vec<f32> = (0..=7).flat_map(|from| (1..=7).map(move |to| score(from, to))).collect();
    let words = ["a", "b", "c", "d", "e", "f", "g"];
    let links = [Tie::new(0, 1), Tie::new(1, 0)];
    let phrase = |start, end, links| OptionAlignment { span: Span::new(start, end), links };
    let phrases = [phrase(1, 2, &links[..0]), phrase(1, 3, &links), phrase(6, 7, &[])];
    let matrices = [NamedMatrix { feature: "waw", cells: &cells }];
    let waw = Jumps::new("waw", Scores::Given).unwrap();
    let source = SourceSentence { matrices: &matrices, ..SourceSentence::of(&words) };
    let scorer = waw.prepare(&source, &phrases).unwrap();
    assert_eq!(scorer.isolated_score(OptionId(0)), 0.0);
    assert_eq!(scorer.upper_bound(OptionId(0)), -0.5);
    // Its order is c b.
    assert_eq!(scorer.isolated_score(OptionId(1)), score(3, 2));
    assert_eq!(scorer.upper_bound(OptionId(1)), -1.0);
    assert_eq!(scorer.upper_bound(OptionId(2)), -2.0);
    assert_eq!([1, 2, 3].map(|word| scorer.gap_loss(SrcPos(word))), [-0.25, 0.0, 0.0]);
}

#[test]
fn words_rated_together_have_the_scores_of_each() {
    let length = 70_u32;
    let number = |at: usize| (at * 37 % 101) as f32 / 25.0 - 2.0;
    let cells: Vec<f32> = (0..71 * 70).map(number).collect();
    let around: Vec<[f32; BITS]> =
        (0..70).map(|word| std::array::from_fn(|bit| number(word * BITS + bit))).collect();
    let mut blocks = vec![0; Coverage::blocks_for(length)];
    for (start, end) in [(0, 2), (5, 9), (20, 21), (60, 66)] {
        Coverage::mark(&mut blocks, Span::new(start, end));
    }
    let cov = Coverage::new(&blocks, length);
    let open = (0..length).filter(|&word| !cov.has(word));
    let words: Vec<SrcPos> = open.filter(|word| word % 3 != 1).map(SrcPos).collect();
    let window = Window { width: 18, inclusive: true };
    for link in [Link::Ready, Link::Apart, Link::Choice(window)] {
        let around = if link == Link::Ready { &[][..] } else { &around };
        let rater = Rater::new(Matrix::given(length as usize, &cells), around, link);
        for from in [0, 9, 66] {
            let mut scores = Vec::new();
            rater.rate(cov, from, &words, &mut scores);
            let expected = words.iter().map(|word| rater.score(cov, from, word.0 + 1));
            assert_eq!(scores, expected.collect::<Vec<_>>());
        }
    }
}
