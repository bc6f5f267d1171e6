// The page of the server: asks, shows, steers, teaches. State is in the address.
"use strict";

const $ = (id) => document.getElementById(id);
const SPACES = ["mono", "dl", "ibm", "mj1", "mj2", "itg"];
const WITH_LIMIT = new Set(["dl", "ibm"]);
const POPS = [10, 20, 50, 100, 200, 400, 700, 1000, 1500, 2000, 3000, 4000, 5000];

// What the user chose; everything else follows from it and from the server's answers.
const state = {
  q: "", system: "", space: "", pops: 0, options: 0, weights: {},
  walls: [], zones: [], fixed: [], glossary: [],
};
let systems = [];
let sentences = [];   // as explained
let current = 0;      // which of them is looked at
let chosen = 0;       // which of its n best
let step = 0;
let asking = 0;       // number of the newest question
let shownLast = 0;    // number of the question whose answer is shown
let range = null;     // words chosen by dragging or with the keyboard

// --- the address ---------------------------------------------------------------------------

function writeAddress() {
  const fields = new URLSearchParams();
  const put = (name, value) => { if (value) fields.set(name, value); };
  put("q", state.q);
  put("system", state.system);
  put("space", state.space);
  put("pops", state.pops);
  put("options", state.options);
  put("walls", state.walls.join(","));
  put("zones", state.zones.map((zone) => zone.join("-")).join(","));
  put("fixed", state.fixed.length ? JSON.stringify(state.fixed) : "");
  put("glossary", state.glossary.length ? JSON.stringify(state.glossary) : "");
  put("weights", Object.keys(state.weights).length ? JSON.stringify(state.weights) : "");
  history.replaceState(null, "", `#${fields}`);
}

function readAddress() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const numbers = (text) => (text ?? "").split(",").filter(Boolean).map(Number).filter(Number.isInteger);
  const values = (text, fallback) => { try { return JSON.parse(text) ?? fallback; } catch { return fallback; } };
  state.q = fields.get("q") ?? "";
  state.system = fields.get("system") ?? "";
  state.space = fields.get("space") ?? "";
  state.pops = Number(fields.get("pops")) || 0;
  state.options = Number(fields.get("options")) || 0;
  state.walls = numbers(fields.get("walls"));
  state.zones = (fields.get("zones") ?? "").split(",").map((zone) => zone.split("-").map(Number))
    .filter((zone) => zone.length === 2 && zone.every(Number.isInteger));
  const isPair = (pair) => Array.isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === "string");
  state.glossary = [values(fields.get("glossary"), [])].flat().filter(isPair);
  const isFixed = (one) => Array.isArray(one) && one.length === 3 && typeof one[2] === "string";
  state.fixed = [values(fields.get("fixed"), [])].flat().filter(isFixed);
  const weights = values(fields.get("weights"), {});
  state.weights = Object.fromEntries(Object.entries(weights).filter(([, value]) => Number.isFinite(value)));
}

// --- asking ----------------------------------------------------------------------------------

class Refusal extends Error {}

async function ask(path, body) {
  const key = $("key").value;
  const headers = { "content-type": "application/json" };
  if (key) headers["x-api-key"] = key;
  const options = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(path, options);
  const value = await answer.json();
  if (!answer.ok) throw new Refusal(value.error ?? `status ${answer.status}`);
  return value;
}

function tell(text, isWrong = false) {
  $("status").textContent = text;
  $("status").classList.toggle("wrong", isWrong);
}

const system = () => systems.find((one) => one.name === state.system) ?? systems[0];
const told = () => sentences[current];
const hasDemands = () => state.walls.length + state.zones.length + state.fixed.length > 0;

function question(extra = {}) {
  const mine = system();
  const settings = {};
  if (state.space) settings.space = state.space;
  if (state.pops) settings.pop_limit = state.pops;
  if (state.options) settings.options_per_span = state.options;
  return {
    q: state.q, source: mine.source, target: mine.target, system: mine.name,
    settings, weights: state.weights, glossary: state.glossary, ...extra,
  };
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const quoted = (text) => `"${escaped(text).replaceAll('"', "&quot;").replaceAll("|", "&#124;")}"`;

// The text with walls, zones and given translations as tags, at the places of its words.
function markedUp(offsets) {
  const tags = [];
  const start = (at) => offsets[at]?.[0];
  const end = (at) => offsets[at]?.[1];
  for (const at of state.walls) if (start(at) !== undefined) tags.push([start(at), 1, " <wall/> "]);
  for (const [first, last] of state.zones) {
    if (start(first) === undefined || end(last) === undefined) continue;
    tags.push([start(first), 2, " <zone> "], [end(last), 0, " </zone> "]);
  }
  for (const [first, last, text] of state.fixed) {
    if (start(first) === undefined || end(last) === undefined) continue;
    tags.push([start(first), 3, ` <n translation=${quoted(text)}>`], [end(last), -1, "</n> "]);
  }
  tags.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let text = "";
  let at = 0;
  for (const [place, , tag] of tags) {
    text += escaped(state.q.slice(at, place)) + tag;
    at = place;
  }
  return text + escaped(state.q.slice(at));
}

// Where words stand is known from a first answer; demands are about these words.
async function explained() {
  if (!hasDemands()) return ask("explain", question());
  const plain = await ask("explain", question());
  if (plain.sentences.length !== 1) throw new Refusal("walls, zones and fixed translations: give one sentence at a time");
  const line = markedUp(plain.sentences[0].offsets);
  return ask("explain", question({ q: line, markup: true }));
}

async function refresh() {
  writeAddress();
  const number = ++asking;
  if (!state.q.trim()) {
    sentences = [];
    show();
    tell("");
    return;
  }
  const before = sentences.map((one) => one.text).join(" ");
  const start = performance.now();
  try {
    const answer = await explained();
    if (number !== asking) return;
    sentences = answer.sentences;
    current = Math.min(current, sentences.length - 1);
    chosen = 0;
    step = told().steps.length;
    show();
    const text = sentences.map((one) => one.text).join(" ");
    $("before").textContent = before && before !== text ? `before: ${before}` : "";
    tell(`${Math.round(performance.now() - start)} ms`);
    shownLast = number;
  } catch (error) {
    if (number !== asking) return;
    if (!(error instanceof Refusal) && !(error instanceof TypeError)) throw error;
    tell(error instanceof Refusal ? error.message : "the server does not answer", true);
  }
}

function later(wait, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), wait);
  };
}
const refreshSoon = later(250, refresh);

// --- words and their partners ------------------------------------------------------------------

const shown = () => told()?.nbest[chosen] ?? told();

function links() {
  const mine = told();
  if (chosen === 0 && mine.posteriors) return mine.posteriors;
  return shown().links.map(([i, j]) => [i, j, 1]);
}

function light(side, at) {
  const strengths = { source: new Map(), target: new Map() };
  if (at !== null) {
    strengths[side].set(at, 1);
    const other = side === "source" ? "target" : "source";
    for (const [i, j, p] of links()) {
      const [mine, partner] = side === "source" ? [i, j] : [j, i];
      if (mine === at) strengths[other].set(partner, Math.max(p, strengths[other].get(partner) ?? 0));
    }
  }
  for (const name of ["source", "target"]) {
    for (const word of $(`${name}-words`).querySelectorAll(".word")) {
      word.style.setProperty("--strength", strengths[name].get(Number(word.dataset.at)) ?? 0);
    }
  }
  for (const path of $("links").querySelectorAll("path")) {
    const mine = Number(side === "source" ? path.dataset.i : path.dataset.j);
    path.classList.toggle("lit", at !== null && mine === at);
  }
}

function showWords() {
  const mine = told();
  const source = $("source-words");
  const target = $("target-words");
  const focused = document.activeElement?.dataset?.at;
  const hadFocus = source.contains(document.activeElement);
  source.replaceChildren();
  target.replaceChildren();
  if (!mine) return;
  mine.source.forEach((text, at) => {
    const zone = state.zones.some(([first, last]) => at >= first && at <= last);
    const inner = state.zones.some(([first, last]) => at > first && at <= last);
    const gap = make("span", { class: `gap${state.walls.includes(at) ? " wall" : ""}${inner ? " zone" : ""}`, "data-gap": at });
    const fixed = state.fixed.find(([first, last]) => at >= first && at <= last);
    const kinds = ["word"];
    if (zone) kinds.push("zone");
    if (fixed) kinds.push("fixed");
    if (mine.unknown.includes(at)) kinds.push("unknown");
    if (range && at >= range[0] && at <= range[1]) kinds.push("chosen");
    const word = make("button", { type: "button", class: kinds.join(" "), "data-at": at, tabindex: at ? -1 : 0 }, text);
    if (fixed && fixed[1] === at) word.append(make("small", {}, fixed[2]));
    source.append(...(at || state.walls.includes(0) ? [gap] : []), word);
  });
  shown().tokens.forEach((text, at) => {
    target.append(make("button", { type: "button", class: "word", "data-at": at, tabindex: at ? -1 : 0 }, text));
  });
  if (hadFocus && focused !== undefined) source.querySelector(`[data-at="${focused}"]`)?.focus();
  $("clear").hidden = !hasDemands();
}

for (const side of ["source", "target"]) {
  const row = $(`${side}-words`);
  const over = (event) => {
    const word = event.target.closest(".word");
    light(side, word ? Number(word.dataset.at) : null);
  };
  row.addEventListener("pointerover", over);
  row.addEventListener("focusin", over);
  row.addEventListener("pointerleave", () => light(side, null));
  row.addEventListener("focusout", () => light(side, null));
  row.addEventListener("keydown", (event) => walk(event, side));
}

// Arrows go from word to word; letters steer.
function walk(event, side) {
  const words = [...$(`${side}-words`).querySelectorAll(".word")];
  const at = words.indexOf(document.activeElement);
  if (at < 0) return;
  const turn = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (turn) {
    const next = Math.min(Math.max(at + turn, 0), words.length - 1);
    if (side === "source" && event.shiftKey) range = range ? stretched(at, next) : [Math.min(at, next), Math.max(at, next)];
    else range = null;
    words.forEach((word, place) => {
      word.tabIndex = place === next ? 0 : -1;
      word.classList.toggle("chosen", side === "source" && Boolean(range) && place >= range[0] && place <= range[1]);
    });
    words[next].focus();
    event.preventDefault();
  } else if (side === "source" && "wzf".includes(event.key) && !event.ctrlKey && !event.metaKey) {
    const [first, last] = range ?? [at, at];
    if (event.key === "w") toggleWall(last + 1);
    if (event.key === "z") addZone(first, last);
    if (event.key === "f") askFixed(first, last);
    event.preventDefault();
  }
}

const stretched = (from, to) => (from === range[1] ? [Math.min(range[0], to), Math.max(range[0], to)] : [Math.min(range[1], to), Math.max(range[1], to)]);

// --- walls, zones, fixed translations -------------------------------------------------------------

const tool = () => document.querySelector("input[name=tool]:checked").value;

function toggleWall(at) {
  if (at < 1 || at >= told().source.length) return;
  state.walls = state.walls.includes(at) ? state.walls.filter((wall) => wall !== at) : [...state.walls, at].sort((a, b) => a - b);
  changeDemands();
}

const meets = (first, last) => ([a, b]) => a <= last && first <= b;

function addZone(first, last) {
  const same = state.zones.some(([a, b]) => a === first && b === last);
  state.zones = state.zones.filter((zone) => !meets(first, last)(zone));
  state.fixed = state.fixed.filter(([a, b]) => !meets(first, last)([a, b]) || (a >= first && b <= last));
  if (!same) state.zones.push([first, last]);
  changeDemands();
}

function askFixed(first, last) {
  range = [first, last];
  const known = state.fixed.find(([a, b]) => a === first && b === last);
  $("fix").hidden = false;
  $("fix").dataset.range = JSON.stringify([first, last]);
  $("fix-words").textContent = told().source.slice(first, last + 1).join(" ");
  $("fix-text").value = known ? known[2] : "";
  $("fix-text").focus();
  showWords();
}

$("fix").addEventListener("submit", (event) => {
  event.preventDefault();
  const [first, last] = JSON.parse($("fix").dataset.range);
  const text = $("fix-text").value.trim();
  state.fixed = state.fixed.filter(([a, b]) => !meets(first, last)([a, b]));
  state.zones = state.zones.filter((zone) => !meets(first, last)(zone) || (zone[0] <= first && zone[1] >= last));
  if (text) state.fixed.push([first, last, text]);
  $("fix").hidden = true;
  changeDemands();
});

function changeDemands() {
  range = null;
  showWords();
  refresh();
}

$("clear").addEventListener("click", () => {
  state.walls = [];
  state.zones = [];
  state.fixed = [];
  $("fix").hidden = true;
  changeDemands();
});

for (const input of document.querySelectorAll("input[name=tool]")) {
  input.addEventListener("change", () => $("source-words").classList.toggle("steers", tool() !== "look"));
}

{
  const row = $("source-words");
  let from = null;
  const wordAt = (event) => {
    const words = [...row.querySelectorAll(".word")];
    const distance = (word) => {
      const box = word.getBoundingClientRect();
      const dx = Math.max(box.left - event.clientX, 0, event.clientX - box.right);
      const dy = Math.max(box.top - event.clientY, 0, event.clientY - box.bottom);
      return dx + 4 * dy;
    };
    return words.length ? Number(words.reduce((a, b) => (distance(b) < distance(a) ? b : a)).dataset.at) : null;
  };
  const mark = () => {
    for (const word of row.querySelectorAll(".word")) {
      const at = Number(word.dataset.at);
      word.classList.toggle("chosen", Boolean(range) && at >= range[0] && at <= range[1]);
    }
  };
  row.addEventListener("pointerdown", (event) => {
    if (tool() === "look" || event.button) return;
    from = wordAt(event);
    if (from === null) return;
    range = [from, from];
    row.setPointerCapture(event.pointerId);
    mark();
    event.preventDefault();
  });
  row.addEventListener("pointermove", (event) => {
    if (from === null) return;
    const at = wordAt(event);
    range = [Math.min(from, at), Math.max(from, at)];
    mark();
  });
  row.addEventListener("pointerup", () => {
    if (from === null) return;
    from = null;
    const [first, last] = range;
    // A wall that is drawn over several words stands before the last of them.
    if (tool() === "wall") toggleWall(first === last ? first + 1 : last);
    if (tool() === "zone") addZone(first, last);
    if (tool() === "fix") askFixed(first, last);
  });
  row.addEventListener("pointercancel", () => { from = null; range = null; mark(); });
}

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
