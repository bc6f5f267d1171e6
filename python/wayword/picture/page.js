// Sorts tables, filters lists and moves the focus. All text stands in the page already: without this
// script everything is still there. No text becomes markup here.
(() => {
  "use strict";

  const numberOf = (text) => {
    const number = Number.parseFloat(text.replace(/,/g, ""));
    return Number.isNaN(number) ? null : number;
  };

  // --- tables -------------------------------------------------------------------------------

  function sortBy(table, column, isDown) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, text: row.cells[column].textContent.trim() }));
    const areNumbers = rows.every(({ text }) => numberOf(text) !== null || text === "–" || text === "n/a");
    const compare = areNumbers
      ? (a, b) => (numberOf(a.text) ?? -Infinity) - (numberOf(b.text) ?? -Infinity)
      : (a, b) => a.text.localeCompare(b.text);
    rows.sort((a, b) => (isDown ? compare(b, a) : compare(a, b)));
    body.append(...rows.map(({ row }) => row));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const isDown = head.getAttribute("aria-sort") !== "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
        sortBy(table, column, isDown);
      });
    });
  }

  // --- lists --------------------------------------------------------------------------------

  function prepare(listed) {
    const form = listed.querySelector("form");
    const list = listed.querySelector(".list");
    const status = listed.querySelector("[role=status]");
    const items = [...list.children];
    const texts = new Map(items.map((item) => [item, item.textContent.toLowerCase()]));
    const choices = [...form.querySelectorAll("[data-choose]")];

    const passes = (item) => {
      const wanted = form.elements.search.value.trim().toLowerCase();
      if (wanted && !texts.get(item).includes(wanted)) return false;
      return choices.every((choice) => {
        const words = (item.dataset[choice.dataset.choose] ?? "").split("\t");
        return !choice.value || words.includes(choice.value);
      });
    };

    const refresh = () => {
      const shown = items.filter(passes);
      items.forEach((item) => { item.hidden = true; });
      shown.forEach((item) => { item.hidden = false; });
      status.textContent = `${shown.length} of ${items.length} ${listed.dataset.name}`;
      const way = form.elements.sort?.value ?? "";
      if (!way) return;
      const [name, sign] = way.startsWith("-") ? [way.slice(1), -1] : [way, 1];
      const valueOf = (item) => Number.parseFloat(item.dataset[name] ?? "0");
      const places = new Map(items.map((item, at) => [item, at]));
      const sorted = [...items].sort((a, b) =>
        sign * (valueOf(a) - valueOf(b)) || places.get(a) - places.get(b));
      list.append(...sorted);
    };

    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", refresh);
    form.addEventListener("reset", () => setTimeout(refresh));
    listed.refresh = refresh;
    refresh();
  }

  const lists = [...document.querySelectorAll(".listed")];
  lists.forEach(prepare);

  // A link from a number to its sentences: it sets the choices of the list that it leads to.
  for (const link of document.querySelectorAll("a[data-set]")) {
    link.addEventListener("click", () => {
      const target = document.querySelector(link.getAttribute("href"));
      const listed = target?.closest("section")?.querySelector(".listed");
      if (!listed) return;
      const form = listed.querySelector("form");
      for (const pair of link.dataset.set.split("\t")) {
        const cut = pair.indexOf("=");
        const control = form.elements[pair.slice(0, cut)];
        if (control) control.value = pair.slice(cut + 1);
      }
      listed.refresh();
    });
  }

  // --- keys ---------------------------------------------------------------------------------

  function move(step) {
    const items = [...document.querySelectorAll(".list > li:not([hidden])")];
    const here = items.indexOf(document.activeElement.closest?.(".list > li"));
    const next = items[Math.max(0, Math.min(items.length - 1, here + step))];
    next?.focus();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.activeElement.matches("input, select, textarea")) return;
    const steps = { j: 1, k: -1 };
    if (event.key in steps) move(steps[event.key]);
    else if (event.key === "/" && lists.length) lists[0].querySelector("input[type=search]").focus();
    else return;
    event.preventDefault();
  });

  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("figure details").forEach((details) => { details.open = true; });
  });
})();
