// Words and their partners; walls, zones and fixed translations, by dragging and by keys.
"use strict";

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
