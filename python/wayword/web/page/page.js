// The page of the server: shows, steps, changes the search, teaches.
"use strict";

// --- what is shown ------------------------------------------------------------------------------

function show() {
  showWords();
  const mine = told();
  const places = ["derivation", "stack", "nbest", "features", "links", "matrices"];
  if (!mine) {
    places.forEach((id) => $(id).replaceChildren());
    ["partial", "step-told", "search-told", "before"].forEach((id) => { $(id).textContent = ""; });
    $("correction").value = "";
    $("sentences").hidden = true;
    return;
  }
  showStep();
  $("nbest").replaceChildren(drawNbest(mine, chosen, (rank) => { chosen = rank; show(); }));
  $("features").replaceChildren(drawFeatures(shown()));
  $("links").replaceChildren(drawLinks({ source: mine.source, tokens: shown().tokens }, links()));
  showMatrices(mine);
  showSentences();
  $("correction").value = shown().text;
  $("completion").textContent = "";
  $("typed").textContent = "";
}

function showMatrices(mine) {
  const order = mine.steps.flatMap((one) => one.src);
  const drawn = mine.matrices.map((matrix) => make("figure", {},
    make("figcaption", {}, `${matrix.name}: ${matrix.told}; dots mark the way of the translation`),
    make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": matrix.name }, drawMatrix(matrix, order))));
  const none = make("p", { class: "hint" }, "This system has no model of word order beside the jumps and the orientation of phrases.");
  $("matrices").replaceChildren(...(drawn.length ? drawn : [none]));
}

function showSentences() {
  const row = $("sentences");
  row.hidden = sentences.length < 2;
  row.replaceChildren("sentence ", ...sentences.map((one, at) => {
    const button = make("button", { type: "button", "aria-pressed": String(at === current), title: one.text }, String(at + 1));
    button.addEventListener("click", () => { current = at; chosen = 0; step = told().steps.length; show(); });
    return button;
  }));
}

function showStep() {
  const mine = told();
  const steps = mine.steps;
  step = Math.min(Math.max(step, 0), steps.length);
  $("step").max = steps.length;
  $("step").value = step;
  $("back").disabled = $("first").disabled = step === 0;
  $("forward").disabled = step === steps.length;
  const one = steps[step - 1];
  const jump = one?.jump ? `, after a jump of ${one.jump > 0 ? "+" : ""}${one.jump}` : "";
  $("step-told").textContent = one
    ? `turn ${step} of ${steps.length}: ${one.source} → ${one.target || "nothing"}${jump}`
    : "nothing is translated yet";
  $("derivation").replaceChildren(drawDerivation(mine, step));
  const words = steps.slice(0, step).map((each, at) => make(at === step - 1 ? "strong" : "span", {}, `${each.target} `));
  $("partial").replaceChildren(...words, step < steps.length ? "…" : "");
  $("stack").replaceChildren(drawStack(mine, step));
  $("search-told").textContent = toldStack(mine, step);
}

const go = (to) => { if (told()) { step = to; showStep(); } };
$("first").addEventListener("click", () => go(0));
$("back").addEventListener("click", () => go(step - 1));
$("forward").addEventListener("click", () => go(step + 1));
$("step").addEventListener("input", () => go(Number($("step").value)));
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "[") go(step - 1);
  if (event.key === "]") go(step + 1);
});

// --- search and weights ---------------------------------------------------------------------------

// A space without its limit, and the limit: `dl:18+waw(…)` is `dl+waw(…)` and 18.
function taken(space) {
  const [, head, limit, rest] = /^([a-z0-9]+)(?::(-?\d+))?(.*)$/.exec(space) ?? [null, space, undefined, ""];
  return { kind: head + rest, limit: limit === undefined ? undefined : Number(limit) };
}
const isLimited = (kind) => WITH_LIMIT.has(/^[a-z0-9]*/.exec(kind)[0]);
const limited = (kind, limit) => (isLimited(kind) ? kind.replace(/^[a-z0-9]+/, (head) => `${head}:${limit}`) : kind);

function showSearch() {
  const usual = system().settings;
  const { kind, limit } = taken(state.space || usual.space);
  const select = $("space");
  const values = [...new Set([...SPACES, taken(usual.space).kind, kind])];
  select.replaceChildren(...values.map((value) => make("option", { value }, value)));
  select.value = kind;
  $("limit").disabled = !isLimited(kind);
  $("limit").value = limit ?? 6;
  $("limit-told").textContent = isLimited(kind) ? String(limit) : "–";
  const pops = state.pops || usual.pop_limit;
  $("pops").value = POPS.reduce((best, value, at) => (Math.abs(value - pops) < Math.abs(POPS[best] - pops) ? at : best), 0);
  $("pops-told").textContent = String(pops);
  const options = state.options || usual.options_per_span;
  $("options").value = options;
  $("options-told").textContent = String(options);
  $("weights").replaceChildren(...Object.entries(system().weights).map(weightSlider));
}

function weightSlider([name, usual]) {
  const most = Math.max(2 * Math.abs(usual), 0.2);
  const value = state.weights[name] ?? usual;
  const output = make("output", {}, value.toFixed(3));
  const slider = make("input", { type: "range", min: -most, max: most, step: most / 100, name });
  slider.value = value;
  slider.addEventListener("input", () => {
    state.weights[name] = Number(slider.value);
    output.textContent = Number(slider.value).toFixed(3);
    refreshSoon();
  });
  return make("label", {}, name, slider, output);
}

$("space").addEventListener("change", () => {
  state.space = limited($("space").value, $("limit").value);
  showSearch();
  refresh();
});
$("limit").addEventListener("input", () => {
  state.space = limited($("space").value, $("limit").value);
  $("limit-told").textContent = $("limit").value;
  refreshSoon();
});
$("pops").addEventListener("input", () => {
  state.pops = POPS[Number($("pops").value)];
  $("pops-told").textContent = String(state.pops);
  refreshSoon();
});
$("options").addEventListener("input", () => {
  state.options = Number($("options").value);
  $("options-told").textContent = String(state.options);
  refreshSoon();
});
$("search").addEventListener("reset", (event) => {
  event.preventDefault();
  Object.assign(state, { space: "", pops: 0, options: 0, weights: {} });
  showSearch();
  refresh();
});
$("search").addEventListener("submit", (event) => event.preventDefault());

// --- glossary ---------------------------------------------------------------------------------------

function showTerms() {
  $("terms").replaceChildren(...state.glossary.map(([term, becomes], at) => {
    const button = make("button", { type: "button", "aria-label": `remove ${term}` }, "×");
    button.addEventListener("click", () => {
      state.glossary.splice(at, 1);
      showTerms();
      refresh();
    });
    return make("li", {}, `${term} → ${becomes}`, button);
  }));
  $("keep-terms").disabled = !state.glossary.length;
}

$("glossary").addEventListener("submit", (event) => {
  event.preventDefault();
  const term = $("term").value.trim();
  if (!term) return;
  state.glossary = [...state.glossary.filter(([known]) => known !== term), [term, $("becomes").value.trim()]];
  $("term").value = $("becomes").value = "";
  showTerms();
  refresh();
});
$("keep-terms").addEventListener("click", () => teach({ glossary: state.glossary }, () => {
  state.glossary = [];
  showTerms();
}));

// --- writing and learning -----------------------------------------------------------------------------

const complete = later(120, async () => {
  const typed = $("correction").value;
  $("typed").textContent = typed;
  if (!told() || !typed) {
    $("completion").textContent = "";
    return;
  }
  try {
    const line = sentences.length > 1 ? told().source.join(" ") : state.q;
    const answer = await ask("suggest", question({ q: line, prefix: typed }));
    if ($("correction").value === typed) $("completion").textContent = answer.completion;
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof TypeError)) throw error;
    $("completion").textContent = "";
  }
});

$("correction").addEventListener("input", () => {
  $("typed").textContent = $("correction").value;
  $("completion").textContent = "";
  complete();
});
$("correction").addEventListener("keydown", (event) => {
  const following = $("completion").textContent;
  if (event.key === "Escape") $("completion").textContent = "";
  if (event.key !== "Tab" || event.shiftKey || !following) return;
  event.preventDefault();
  $("correction").value += following;
  $("typed").textContent = $("correction").value;
  $("completion").textContent = "";
});

async function teach(lesson, done = () => {}) {
  try {
    const mine = system();
    const answer = await ask("learn", { source: mine.source, target: mine.target, system: mine.name, ...lesson });
    done();
    await refresh();
    tell(`learned; ${answer.lessons} lessons in all`);
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof TypeError)) throw error;
    tell(error instanceof Refusal ? error.message : "the server does not answer", true);
  }
}

$("learn").addEventListener("click", () => {
  const translation = $("correction").value.trim();
  if (!told() || !translation) return;
  const raw = sentences.length > 1 ? told().source.join(" ") : state.q.trim();
  teach({ q: raw, translation });
});

// --- the start ------------------------------------------------------------------------------------------

$("source").addEventListener("input", () => {
  state.q = $("source").value;
  state.walls = [];
  state.zones = [];
  state.fixed = [];
  range = null;
  current = 0;
  refreshSoon();
});
$("system").addEventListener("change", () => {
  state.system = $("system").value;
  Object.assign(state, { space: "", pops: 0, options: 0, weights: {} });
  showSystem();
  refresh();
});
$("key").addEventListener("change", refresh);
$("key-field").addEventListener("submit", (event) => event.preventDefault());

function showSystem() {
  const mine = system();
  $("source-title").textContent = `Source (${mine.source})`;
  $("target-title").textContent = `Translation (${mine.target})`;
  $("source").lang = mine.source;
  $("source-words").lang = mine.source;
  $("target-words").lang = mine.target;
  $("correction").lang = mine.target;
  $("source").dir = $("source-words").dir = "auto";
  $("correction").dir = $("target-words").dir = "auto";
  showSearch();
}

async function start() {
  readAddress();
  try {
    const settings = await ask("frontend/settings");
    systems = settings.systems;
    $("key-field").hidden = !settings.keyRequired;
    $("learn").disabled = !settings.suggestions;
    $("keep-terms").hidden = !settings.suggestions;
    $("source").maxLength = Math.min(settings.charLimit, 4000);
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof TypeError)) throw error;
    tell("the server does not answer", true);
    return;
  }
  $("system").replaceChildren(...systems.map((one) => make("option", { value: one.name }, `${one.source} → ${one.target}: ${one.name}`)));
  $("system").value = system().name;
  $("source").value = state.q;
  showSystem();
  showTerms();
  await refresh();
}

start();
