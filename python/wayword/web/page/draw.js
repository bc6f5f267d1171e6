// Pictures and tables of a translation, from what the server tells. No text becomes markup here.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const pen = document.createElement("canvas").getContext("2d");
pen.font = '14px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';

// An element with attributes and children; strings are text.
function make(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

function shape(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const widthOf = (word) => Math.max(pen.measureText(word).width, 8) + 4;

// The middle and the width of each word in a row, and the width of the row.
function layOut(words, gap = 18) {
  const places = [];
  let at = 10;
  for (const word of words) {
    const width = widthOf(word);
    places.push({ left: at, middle: at + width / 2, width });
    at += width + gap;
  }
  return { places, width: Math.max(at - gap + 10, 20) };
}

function picture(width, height, label) {
  return shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "fixed", role: "img", "aria-label": label });
}

const textAt = (x, y, text, kind = "word") => shape("text", { x, y, "text-anchor": "middle", class: kind }, text);

// Runs of neighbouring positions.
function runsOf(positions) {
  const runs = [];
  for (const at of [...positions].sort((a, b) => a - b)) {
    const last = runs[runs.length - 1];
    if (last && last[1] === at) last[1] = at + 1;
    else runs.push([at, at + 1]);
  }
  return runs;
}

// The source with its phrases in boxes, numbered by turn, and the jumps between them as arcs.
function drawDerivation(told, step) {
  const { places, width } = layOut(told.source);
  const steps = told.steps;
  const reach = steps.map((one, at) => {
    const from = at ? Math.max(...steps[at - 1].src) : -1;
    return Math.min(14 + 9 * Math.abs(one.src[0] - from - 1), 80);
  });
  const above = Math.max(24, ...reach.map((high, at) => (steps[at].jump > 0 ? high : 0))) + 6;
  const below = Math.max(8, ...reach.map((high, at) => (steps[at].jump < 0 ? high : 0))) + 8;
  const line = above + 20;
  const svg = picture(width, line + 34 + below, "phrases in source order, jumps as arcs");
  steps.forEach((one, at) => {
    const state = at + 1 === step ? "now" : at < step ? "done" : "";
    for (const [first, end] of runsOf(one.src)) {
      const left = places[first].left - 5;
      const right = places[end - 1].left + places[end - 1].width + 5;
      svg.append(shape("rect", { x: left, y: line - 17, width: right - left, height: 40, rx: 6, class: `phrase ${state}` }));
    }
    const middle = (places[Math.min(...one.src)].left + places[Math.max(...one.src)].left + places[Math.max(...one.src)].width) / 2;
    svg.append(textAt(middle, line + 18, String(at + 1), "small name"));
  });
  steps.forEach((one, at) => {
    if (!one.jump) return;
    const from = at ? Math.max(...steps[at - 1].src) : -1;
    const start = from < 0 ? 3 : places[from].middle;
    const end = places[Math.min(...one.src)].middle;
    const side = one.jump > 0 ? -1 : 1;
    const base = side < 0 ? line - 19 : line + 25;
    const bend = base + side * reach[at] * 1.2;
    const kind = at + 1 === step ? "now" : at < step ? "" : "later";
    const tip = shape("title", {}, `turn ${at + 1}: ${one.jump > 0 ? "+" : ""}${one.jump} words`);
    svg.append(shape("path", { d: `M${start} ${base}C${start} ${bend} ${end} ${bend} ${end} ${base}`, class: `arc ${kind}` }, tip));
  });
  told.source.forEach((word, at) => svg.append(textAt(places[at].middle, line, word)));
  return svg;
}

// Source above, target below, a curve a link, the surer the darker.
function drawLinks(told, links) {
  const above = layOut(told.source);
  const below = layOut(told.tokens);
  const width = Math.max(above.width, below.width);
  const svg = picture(width, 122, "links between source and target words");
  for (const [i, j, p] of links) {
    const a = above.places[i].middle;
    const b = below.places[j].middle;
    const crossed = links.some(([k, l, q]) => q >= 0.3 && p >= 0.3 && (k - i) * (l - j) < 0);
    const tip = shape("title", {}, `${told.source[i]} – ${told.tokens[j]}: ${p.toFixed(2)}`);
    svg.append(shape("path", {
      d: `M${a} 26C${a} 62 ${b} 62 ${b} 98`, class: crossed ? "link crossed" : "link",
      "stroke-opacity": 0.15 + 0.85 * p, "data-i": i, "data-j": j,
    }, tip));
  }
  told.source.forEach((word, at) => svg.append(textAt(above.places[at].middle, 18, word)));
  told.tokens.forEach((word, at) => svg.append(textAt(below.places[at].middle, 114, word)));
  return svg;
}

// A matrix as cells, dark where it is large; dots mark the steps that were taken.
function drawMatrix(matrix, order) {
  const size = 26;
  const margin = Math.max(...matrix.rows.map(widthOf)) + 14;
  const top = Math.max(...matrix.columns.map(widthOf)) + 14;
  const svg = picture(margin + size * matrix.columns.length + 4, top + size * matrix.rows.length + 4, `${matrix.name}: ${matrix.told}`);
  const most = Math.max(...matrix.cells.flat().map(Math.abs), 1e-9);
  const isStep = matrix.rows.length === matrix.columns.length + 1;
  const taken = new Set();
  if (isStep) order.forEach((at, turn) => taken.add(`${turn ? order[turn - 1] + 1 : 0} ${at}`));
  matrix.cells.forEach((row, y) => row.forEach((value, x) => {
    const left = margin + x * size;
    const high = top + y * size;
    const tip = shape("title", {}, `${matrix.rows[y]} → ${matrix.columns[x]}: ${value}`);
    const kind = value < 0 ? "heat below" : "heat";
    svg.append(shape("rect", { x: left, y: high, width: size, height: size, class: kind, "fill-opacity": Math.abs(value) / most }, tip));
    svg.append(shape("rect", { x: left, y: high, width: size, height: size, class: "cell", "pointer-events": "none" }));
    if (taken.has(`${y} ${x}`)) svg.append(shape("circle", { cx: left + size / 2, cy: high + size / 2, r: 5, class: "dot", "pointer-events": "none" }));
  }));
  matrix.rows.forEach((word, y) => svg.append(shape("text", { x: margin - 6, y: top + y * size + 18, "text-anchor": "end" }, word)));
  matrix.columns.forEach((word, x) => {
    const left = margin + x * size + size / 2;
    svg.append(shape("text", { x: left, y: top - 6, dy: 4, transform: `rotate(-90 ${left} ${top - 6})` }, word));
  });
  return svg;
}

function table(heads, rows) {
  const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}

const cell = (text, kind) => make("td", kind ? { class: kind } : {}, text);

// The hypotheses of the stack that the step is in; those of the best translation stand out.
function drawStack(told, step) {
  const stack = told.stacks[step ? told.steps[step - 1].covered.length : 0];
  const same = (a, b) => a.length === b.length && a.every((value, at) => value === b[at]);
  const mine = step ? told.steps[step - 1] : { covered: [], target: "" };
  let isFound = false;
  const rows = stack.best.map((hyp, rank) => {
    const dots = told.source.map((_, at) => (hyp.covered.includes(at) ? "●" : "○")).join("");
    const isMine = !isFound && same(hyp.covered, mine.covered) && hyp.target === mine.target;
    isFound ||= isMine;
    const fate = isMine ? "the way taken" : hyp.isAlive ? "led to a translation" : "given up";
    return make("tr", { class: isMine ? "on-path" : hyp.isAlive ? null : "dead" },
      make("th", { scope: "row" }, String(rank + 1)), cell(dots, "dots"), cell(hyp.target || "–"),
      cell(hyp.score.toFixed(2), "number"), cell(hyp.total.toFixed(2), "number"),
      cell(String(hyp.recombined), "number"), cell(fate));
  });
  return table(["", "covered", "last phrase", "score", "with future", "merged", "what became of it"], rows);
}

const toldStack = (told, step) => {
  const words = step ? told.steps[step - 1].covered.length : 0;
  const stack = told.stacks[words];
  return `Stack ${words}: ${stack.kept} hypotheses kept, ${stack.recombined} merged with one that has the same future, ` +
    `${stack.abandoned} led nowhere. In all: ${told.statistics.scored} extensions scored, ${told.statistics.made} hypotheses made, ` +
    `${told.statistics.recombined} merged, ${told.statistics.pruned} pruned, ${told.statistics.narrowed} spans left out by the order model.`;
};

function drawNbest(told, chosen, choose) {
  const rows = told.nbest.map((other, rank) => {
    const button = make("button", { type: "button" }, other.text);
    button.addEventListener("click", () => choose(rank));
    return make("tr", { class: rank === chosen ? "selected" : null }, make("th", { scope: "row", class: "number" }, String(rank + 1)),
      cell(other.score.toFixed(3), "number"), make("td", {}, button));
  });
  return table(["", "score", "translation"], rows);
}

function drawFeatures(told) {
  const rows = told.features.map(([name, value, weight]) => make("tr", {}, make("th", { scope: "row" }, name),
    cell(value.toFixed(3), "number"), cell(weight.toFixed(4), "number"), cell((value * weight).toFixed(3), "number")));
  return table(["feature", "value", "weight", "value × weight"], rows);
}
