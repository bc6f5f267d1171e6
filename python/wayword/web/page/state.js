// What the user chose, kept in the address, and how the server is asked.
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
