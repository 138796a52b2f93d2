"use strict";
(() => {
  const root = document.documentElement;

  // Light and dark: as the system says, until the button is used; nothing is stored.
  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => theme.setAttribute("aria-pressed", String(dark()));
  theme.hidden = false;
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  show();

  // Tables: a button in each heading sorts, the other way round when used again. What has no value
  // is always last.
  const value = (row, column) => {
    const cell = row.cells[column];
    const number = cell.dataset.value;
    return number === undefined ? cell.textContent.trim() : Number(number);
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });
  const missing = (v) => v === "" || v === "–";
  for (const table of document.querySelectorAll("table")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => [value(row, column), row]);
        rows.sort(([a], [b]) => {
          if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
          return up ? compare(a, b) : compare(b, a);
        });
        body.append(...rows.map(([, row]) => row));
      });
    });
  }

  // Marks of figures: their title becomes a tooltip and a name. One mark of a figure can be
  // reached by Tab, the others from there by the arrow keys.
  const tip = document.getElementById("tip");
  const hide = () => {
    tip.hidden = true;
  };
  const place = (mark, x, y) => {
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, x + 12), innerWidth - width - 8);
    const top = y + height + 20 > innerHeight ? y - height - 12 : y + 14;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${Math.max(8, top)}px`;
  };
  const beside = (mark) => {
    const box = mark.getBoundingClientRect();
    place(mark, box.left + box.width / 2, Math.min(box.bottom, innerHeight) - 10);
  };
  for (const sheet of document.querySelectorAll(".sheet")) {
    const marks = [...sheet.querySelectorAll("g.mark")].filter((mark) => {
      const title = [...mark.children].find((child) => child.tagName === "title");
      if (!title) return false;
      mark.setAttribute("role", "img");
      mark.setAttribute("aria-label", title.textContent);
      mark.setAttribute("tabindex", "-1");
      title.remove();
      return true;
    });
    if (marks.length === 0) continue;
    marks[0].setAttribute("tabindex", "0");
    marks.forEach((mark, at) => {
      mark.addEventListener("pointermove", (e) => place(mark, e.clientX, e.clientY));
      mark.addEventListener("pointerleave", hide);
      mark.addEventListener("focus", () => {
        marks.forEach((other) => other.setAttribute("tabindex", other === mark ? "0" : "-1"));
        beside(mark);
      });
      mark.addEventListener("blur", hide);
      mark.addEventListener("keydown", (e) => {
        const last = marks.length - 1;
        const to = {
          ArrowRight: Math.min(at + 1, last),
          ArrowDown: Math.min(at + 1, last),
          ArrowLeft: Math.max(at - 1, 0),
          ArrowUp: Math.max(at - 1, 0),
          Home: 0,
          End: last,
        }[e.key];
        if (to === undefined) return;
        e.preventDefault();
        marks[to].focus();
      });
    });
  }
  addEventListener("keydown", (e) => {
    if (e.key === "Escape") hide();
  });
  // What has the focus keeps its tooltip: the focus itself may have scrolled.
  const follow = () => {
    const mark = document.activeElement;
    if (mark && mark.matches("g.mark")) beside(mark);
    else hide();
  };
  addEventListener("scroll", follow, { capture: true, passive: true });
})();
