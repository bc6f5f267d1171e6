// Shows the sentences of a side-by-side page: sorts, filters and draws them.
//
// In: the JSON of the element #data (report/side_by_side.py says what it holds). Out: the controls
// and the list in #texts. Text of the data reaches the page as text nodes only.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const room = document.getElementById("texts");
  const REF = data.systems.length; // the reference counts as one system more
  const STEP = 40; // sentences that are put on the page at a time
  const SORTS = [
    ["unlike", "most unlike in order"],
    ["first", "first is better"],
    ["second", "second is better"],
    ["line", "line"],
  ];
  const hasOrder = data.couples.length > 0;
  const open = new Set(); // lines whose arcs are drawn
  const chosen = { first: 0, second: REF, couple: 0, isSwapped: false };
  let listed = []; // the sentences that pass, in their order
  let shown = 0; // how many of them are on the page

  // --- elements -----------------------------------------------------------------------------

  function element(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  function drawn(name, attributes = {}, text = "") {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return node;
  }

  const nameOf = (system) => (system === REF ? "reference" : data.systems[system]);
  const wordsOf = (line) => (line ? line.split(" ") : []);
  const textOf = (sentence, system) => (system === REF ? sentence.ref : sentence.hyps[system]);
  const lengthOf = (sentence) => wordsOf(sentence.src ?? sentence.ref).length;

  function linksOf(sentence, system) {
    const flat = sentence.links ? sentence.links[system] : [];
    const links = [];
    for (let at = 0; at < flat.length; at += 2) links.push([flat[at], flat[at + 1]]);
    return links;
  }

  // --- what is compared ---------------------------------------------------------------------

  function compare(first, second) {
    const couple = data.couples.findIndex(
      ([a, b]) => a === Math.min(first, second) && b === Math.max(first, second));
    Object.assign(chosen, { first, second, couple, isSwapped: first > second });
  }

  // How many pairs of words the two have as the reference has them, and of how many.
  function counts(sentence) {
    const [a, b, pairs, apart, distances, weighted] = sentence.couples[chosen.couple];
    const [first, second] = chosen.isSwapped ? [b, a] : [a, b];
    return { first, second, pairs, apart, distances, weighted };
  }

  // --- colours of words ---------------------------------------------------------------------

  function levelOf(wrong, pairs) {
    if (pairs === 0) return "none";
    const share = 1 - wrong / pairs;
    return share === 1 ? "all" : share >= 0.75 ? "most" : share >= 0.5 ? "half" : "few";
  }

  // For each source word of a system: how many pairs it is in, and how many of them are wrong.
  function judgedOf(sentence, system) {
    const wrong = sentence.wrong && sentence.wrong[system];
    if (!wrong) return null;
    const pairs = wrong.filter((count) => count >= 0).length - 1;
    return wrong.map((count) => (count < 0 ? [0, 0] : [count, pairs]));
  }

  // The same for the words of an output: a word stands for all source words linked to it.
  function judgedWords(sentence, system) {
    const judged = judgedOf(sentence, system);
    if (!judged) return null;
    const sums = wordsOf(textOf(sentence, system)).map(() => [0, 0]);
    for (const [src, tgt] of linksOf(sentence, system)) {
      sums[tgt][0] += judged[src][0];
      sums[tgt][1] += judged[src][1];
    }
    return sums;
  }

  // --- a sentence ---------------------------------------------------------------------------

  function line(label, kind, spans, isCompared = false) {
    const text = element("p", { class: "text", dir: "auto" });
    spans.forEach((span, at) => text.append(...(at ? [" ", span] : [span])));
    if (!spans.length) text.append(element("em", {}, "empty"));
    const name = element("div", { class: "name" }, label);
    return element("div", { class: `line ${kind}${isCompared ? " compared" : ""}` }, name, text);
  }

  function sourceLine(sentence) {
    const verbs = new Set(sentence.verbs ?? []);
    const spans = wordsOf(sentence.src).map((word, at) =>
      element("span", verbs.has(at) ? { class: "verb" } : {}, word));
    return line("source", "source", spans);
  }

  function outputLine(sentence, system) {
    const words = wordsOf(textOf(sentence, system));
    const judged = judgedWords(sentence, system);
    const spans = words.map((word, at) => {
      if (!judged) return element("span", {}, word);
      const [wrong, pairs] = judged[at];
      const title = pairs ? `${pairs - wrong} of ${pairs} pairs as in the reference` : "not judged";
      return element("span", { class: `w ${levelOf(wrong, pairs)}`, title }, word);
    });
    const isCompared = hasOrder && (system === chosen.first || system === chosen.second);
    return line(nameOf(system), "output", spans, isCompared);
  }

  function headOf(sentence) {
    const size = lengthOf(sentence);
    const parts = [`line ${sentence.line}`, `${size} word${size === 1 ? "" : "s"}`];
    if (!hasOrder) return parts.join(" · ");
    const { first, second, pairs } = counts(sentence);
    const ones = [[chosen.first, first], [chosen.second, second]]
      .filter(([system]) => system !== REF).map(([system, count]) => `${nameOf(system)} ${count}`);
    return [...parts, `${ones.join(", ")} of ${pairs} pairs as in the reference`].join(" · ");
  }

  function item(sentence) {
    const id = `arcs-${sentence.line}`;
    const head = hasOrder
      ? element("button", { type: "button", class: "head", "aria-controls": id,
                            "aria-expanded": "false" }, headOf(sentence))
      : element("h3", { class: "head", tabindex: "-1" }, headOf(sentence));
    const node = element("li", {}, head);
    if (sentence.src !== undefined) node.append(sourceLine(sentence));
    const label = data.refs > 1 ? `reference ${sentence.which}` : "reference";
    node.append(line(label, "reference", wordsOf(sentence.ref).map((word) =>
      element("span", {}, word))));
    data.systems.forEach((_, system) => node.append(outputLine(sentence, system)));
    if (!hasOrder) return node;
    const arcs = element("div", { class: "arcs", id, hidden: "" });
    node.append(arcs);
    const show = (isOpen) => {
      head.setAttribute("aria-expanded", String(isOpen));
      arcs.hidden = !isOpen;
      arcs.replaceChildren(...(isOpen ? pictures(sentence) : []));
      if (isOpen) open.add(sentence.line);
      else open.delete(sentence.line);
    };
    node.addEventListener("click", (event) => {
      const isText = !event.target.closest("button") && String(getSelection());
      if (!isText && !event.target.closest(".arcs")) show(arcs.hidden);
    });
    if (open.has(sentence.line)) show(true);
    return node;
  }

  // --- arcs ---------------------------------------------------------------------------------

  const GAP = 14, SIZE = 14, HEIGHT = 132;
  const ruler = document.createElement("canvas").getContext("2d");

  // The middle of each word of a row that is `wide` pixels wide, and its own width.
  function spread(words, wide) {
    const widths = words.map((word) => ruler.measureText(word).width);
    const all = widths.reduce((sum, width) => sum + width, 0);
    const gap = words.length > 1 ? Math.max(GAP, (wide - all) / (words.length - 1)) : 0;
    let left = 0;
    const middles = widths.map((width) => {
      const middle = left + width / 2;
      left += width + gap;
      return middle;
    });
    return { middles, width: Math.max(left - gap, 0) };
  }

  function pictures(sentence) {
    ruler.font = `${SIZE}px ${getComputedStyle(document.body).fontFamily}`;
    const systems = [REF, chosen.first, chosen.second];
    return [...new Set(systems)].map((system) => picture(sentence, system));
  }

  function picture(sentence, system) {
    const rows = [wordsOf(sentence.src), wordsOf(textOf(sentence, system))];
    const wide = Math.max(...rows.map((words) => spread(words, 0).width));
    const [above, below] = rows.map((words) => spread(words, wide).middles);
    const links = linksOf(sentence, system);
    const told = links.map(([src, tgt]) => `${rows[0][src]} – ${rows[1][tgt]}`).join(", ");
    const svg = drawn("svg", {
      role: "img", "aria-label": `links of source and ${nameOf(system)}: ${told || "none"}`,
      width: Math.ceil(wide) + 8, height: HEIGHT, viewBox: `-4 0 ${Math.ceil(wide) + 8} ${HEIGHT}`,
    });
    const judged = judgedOf(sentence, system);
    const curves = links.map(([src, tgt]) => {
      const [a, b, middle] = [above[src], below[tgt], HEIGHT / 2];
      const level = judged ? levelOf(...judged[src]) : "plain";
      const path = `M${a} 24C${a} ${middle} ${b} ${middle} ${b} ${HEIGHT - 24}`;
      return drawn("path", { class: level, d: path });
    });
    svg.append(...curves);
    rows.forEach((words, row) => words.forEach((word, at) => {
      const text = drawn("text", {
        x: (row ? below : above)[at], y: row ? HEIGHT - 8 : 16, "text-anchor": "middle" }, word);
      const touched = curves.filter((_, link) => links[link][row] === at);
      if (!touched.length) text.setAttribute("class", "none");
      for (const [kind, isOn] of [["pointerenter", true], ["pointerleave", false]]) {
        text.addEventListener(kind, () =>
          touched.forEach((curve) => curve.classList.toggle("on", isOn)));
      }
      svg.append(text);
    }));
    const caption = element("figcaption", {}, `source and ${nameOf(system)}`);
    const box = element("div", { class: "wide", tabindex: "0", role: "region",
                                 "aria-label": `source and ${nameOf(system)}` }, svg);
    return element("figure", {}, caption, box);
  }

  // --- controls -----------------------------------------------------------------------------

  const controls = {};

  function labelled(text, name, control) {
    controls[name] = control;
    control.setAttribute("name", name);
    return element("label", {}, text, " ", control);
  }

  function select(text, name, options) {
    const nodes = options.map(([value, label]) => element("option", { value }, label));
    return labelled(text, name, element("select", {}, ...nodes));
  }

  function number(text, name) {
    const input = element("input", { type: "number", min: "0", inputmode: "numeric" });
    return labelled(text, name, input);
  }

  function panel() {
    const form = element("form", { role: "search", "aria-label": "which sentences" });
    const linked = [...new Set(data.couples.flat())].map((system) => [system, nameOf(system)]);
    if (linked.length > 2) form.append(select("compare", "one", linked), select("with", "other", linked));
    if (hasOrder) {
      const last = data.distances.length;
      const ends = [0, ...data.distances];
      const bins = ends.map((end, at) => [
        at, at === last ? `over ${end} words` : `${end + 1}–${ends[at + 1]} words`]);
      form.append(select("sort by", "sort", SORTS));
      form.append(select("they differ by a jump over", "distance", [["", "any distance"], ...bins]));
      if (data.weights) {
        form.append(labelled("a verb's order differs", "verb", element("input", { type: "checkbox" })));
      }
    }
    form.append(number("length from", "least"), number("to", "most"));
    form.append(labelled("text", "search", element("input", { type: "search" })));
    form.append(element("button", { type: "reset" }, "all sentences"));
    return form;
  }

  function prepare(form) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => { pick(); refresh(); }));
    form.addEventListener("input", (event) => {
      const { one, other } = controls;
      if (event.target === one || event.target === other) {
        const [changed, kept] = event.target === one ? [one, other] : [other, one];
        const before = event.target === one ? chosen.first : chosen.second;
        if (changed.value === kept.value) kept.value = String(before);
        compare(Number(one.value), Number(other.value));
        nameSorts();
      }
      refresh();
    });
  }

  // The first couple is compared until the reader says otherwise.
  function pick() {
    if (!hasOrder) return;
    compare(...data.couples[0]);
    if (controls.one) [controls.one.value, controls.other.value] = data.couples[0].map(String);
    nameSorts();
  }

  function nameSorts() {
    const [, first, second] = controls.sort.options;
    first.textContent = `${nameOf(chosen.first)} is better`;
    second.textContent = `${nameOf(chosen.second)} is better`;
    const isReference = chosen.first === REF || chosen.second === REF; // which is never worse
    for (const option of [first, second]) option.hidden = option.disabled = isReference;
    if (controls.sort.selectedOptions[0]?.disabled) controls.sort.value = "unlike";
  }

  // --- the list -----------------------------------------------------------------------------

  function passes(sentence) {
    const size = lengthOf(sentence);
    if (controls.least.value && size < Number(controls.least.value)) return false;
    if (controls.most.value && size > Number(controls.most.value)) return false;
    const wanted = controls.search.value.trim().toLowerCase();
    const texts = [sentence.src ?? "", sentence.ref, ...sentence.hyps];
    if (wanted && !texts.some((text) => text.toLowerCase().includes(wanted))) return false;
    if (!hasOrder) return true;
    const { distances, weighted } = counts(sentence);
    const bins = controls.verb?.checked ? weighted : distances;
    if (controls.distance.value !== "") return Boolean(bins & (1 << Number(controls.distance.value)));
    return !controls.verb?.checked || bins > 0;
  }

  function keyOf(sentence) {
    const { first, second, apart } = counts(sentence);
    const gain = first - second;
    const sizes = { unlike: Math.abs(gain), first: gain, second: -gain };
    return controls.sort.value === "line" ? [0, 0] : [-sizes[controls.sort.value], -apart];
  }

  function refresh() {
    listed = data.sentences.filter(passes);
    const keys = new Map(listed.map((sentence) => [sentence, hasOrder ? keyOf(sentence) : [0, 0]]));
    listed.sort((a, b) => {
      const [left, right] = [keys.get(a), keys.get(b)];
      return left[0] - right[0] || left[1] - right[1] || a.line - b.line;
    });
    status.textContent = `${listed.length} of ${data.sentences.length} sentences`;
    shown = 0;
    list.replaceChildren();
    more();
  }

  function more() {
    list.append(...listed.slice(shown, shown + STEP).map(item));
    shown = Math.min(shown + STEP, listed.length);
    rest.hidden = shown >= listed.length;
    rest.textContent = `show more (${listed.length - shown} are left)`;
  }

  // --- keys ---------------------------------------------------------------------------------

  const heads = () => [...list.querySelectorAll(".head")];

  function move(step) {
    const here = document.activeElement.closest?.("#list > li");
    const at = here ? [...list.children].indexOf(here) + step : 0;
    if (at >= shown && shown < listed.length) more();
    const head = heads()[Math.max(0, at)];
    if (!head) return;
    head.focus({ preventScroll: true });
    head.parentElement.scrollIntoView({ block: "nearest" });
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const active = document.activeElement;
    if (active.matches("input, select, textarea")) return;
    const isHead = active.matches(".head");
    const steps = { j: 1, k: -1, ...(isHead ? { ArrowDown: 1, ArrowUp: -1 } : {}) };
    if (event.key in steps) move(steps[event.key]);
    else if (event.key === "/") controls.search.focus();
    else if (event.key === "Escape" && active.closest("li")?.querySelector("[aria-expanded=true]")) {
      const head = active.closest("li").querySelector(".head");
      head.click();
      head.focus();
    } else return;
    event.preventDefault();
  }

  const status = element("p", { role: "status" });
  const list = element("ol", { id: "list" });
  const rest = element("button", { type: "button", class: "more" });
  const form = panel();
  const help = hasOrder
    ? "j and k, or arrow keys: next and previous sentence. Enter or a click: its links as arcs. " +
      "/: search."
    : "j and k: next and previous sentence. /: search.";
  room.append(element("h2", {}, "Sentences"), form, element("p", { class: "help" }, help), status,
              list, rest);
  prepare(form);
  rest.addEventListener("click", more);
  document.addEventListener("keydown", onKey);
  new IntersectionObserver((seen) => {
    if (seen.some((entry) => entry.isIntersecting) && shown < listed.length) more();
  }, { rootMargin: "600px" }).observe(rest);
  pick();
  refresh();
})();
