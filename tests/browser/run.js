// The pages of `gpfuse report` in a real browser: node run.js GPFUSE FOLDER
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { EVIL, STUDIES, make } from "./folder.js";

const [gpfuse, folder] = process.argv.slice(2).map((path) => resolve(path));
const { rows } = make(gpfuse, folder);
const report = (...args) => execFileSync(gpfuse, ["report", ...args], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
const timed = (what, work) => {
  const from = Date.now();
  work();
  assert(Date.now() - from < 5000, `${what} took ${Date.now() - from} ms`);
};
timed("the page of the sweep", () => report("sweep"));
timed("the page of the model", () => report("model.nc", "--data", "named.csv", "--figures", "figures"));
timed("the page of a fusion", () => report("three.nc"));
timed("the page of a fusion on a table", () => report("three.nc", "--data", "three.csv", "--out", "table.html"));

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
let checks = 0;

/** Open a page; whatever it complains about, asks for or pops up is a failure. */
async function look(file, options, work) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  const trouble = [];
  const address = pathToFileURL(join(folder, file)).href;
  page.on("console", (message) => trouble.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const asked = request.url().split("#")[0];
    if (asked !== address) trouble.push(`request: ${asked}`);
  });
  await page.goto(address);
  await work(page);
  assert.deepEqual(trouble, [], file);
  await context.close();
  checks += 1;
}

const scored = rows.filter((row) => row.nlpd !== null);
const OURS = ["pbhs-robust", "pogpe-ours"];

/** How many boxes and lines the figure of a study has, counted from the ledger. */
function expected(study) {
  const own = study.arms.every((arm) => OURS.includes(arm));
  const here = scored.filter(
    (row) =>
      row.basis === study.basis &&
      study.data.includes(row.data) &&
      study.sizes.includes(row.size) &&
      (row.method === "het" || study.experts.includes(row.experts)) &&
      (study.arms.includes(row.arm) || (own && !OURS.includes(row.arm))),
  );
  const ranges = study.data.length > 1;
  const boxed = here.filter((row) => ranges || row.method !== "het");
  const places = new Set(boxed.map((row) => [row.arm, row.data, row.size, row.experts].join()));
  return { boxes: places.size, lines: ranges ? 0 : 1 };
}

await look("sweep/report.html", {}, async (page) => {
  for (const study of STUDIES) {
    const ranges = study.data.length > 1;
    const id = `study-${study.name}${ranges ? `-${study.sizes[0]}-${study.experts[0]}` : ""}`;
    const figure = page.locator(`figure#${id}`);
    assert.equal(await figure.count(), 1, id);
    const { boxes, lines } = expected(study);
    assert.equal(await figure.locator("g.mark.box").count(), boxes, `boxes of ${id}`);
    assert.equal(await figure.locator("g.mark.line").count(), lines, `lines of ${id}`);
    assert((await figure.locator("svg").getAttribute("aria-label")).length > 3);
    assert((await figure.locator("figcaption").innerText()).length > 10);
  }
  for (const panel of ["a", "b", "c"]) {
    const figure = page.locator(`figure#fig-1${panel}-rff`);
    assert.equal(await figure.count(), 1, `Fig. 1${panel}`);
    assert((await figure.locator("g.mark").count()) > 0);
  }
  for (const part of ["weights", "calibration", "trace", "rank"]) {
    const figure = page.locator(`figure#closer-${part}-rff`);
    assert.equal(await figure.count(), 1, `closer look: ${part}`);
    assert((await figure.locator("g.mark").count()) > 0, part);
  }
  for (const basis of ["rff", "hilbert"]) {
    // Two panels of all methods with K = 3 and the single GP.
    const arms = scored.filter((row) => row.data === "paper" && row.basis === basis && row.size === (basis === "rff" ? 30 : 60) && (row.method === "het" || row.experts === 3));
    const marks = page.locator(`figure#forest-${basis} g.mark.dot`);
    assert.equal(await marks.count(), 2 * new Set(arms.map((row) => row.arm)).size, `forest, ${basis}`);
    assert(/NLPD/.test(await marks.first().getAttribute("aria-label")));
  }
  assert.equal(await page.locator(".claims > li").count(), 6);
  assert.equal(await page.locator(".verdict").count(), 12);
  // No name has become markup.
  assert.equal(await page.locator("img").count(), 0);
  assert((await page.locator("body").innerText()).includes(EVIL));
});

const column = (table, i) => table.locator(`tbody tr > :nth-child(${i})`).evaluateAll((cells) => cells.map((cell) => Number(cell.dataset.value)));
const rising = (values) => values.every((v, i) => i === 0 || Number.isNaN(v) || values[i - 1] <= v);

await look("sweep/report.html", {}, async (page) => {
  const table = page.locator("table", { has: page.locator("caption", { hasText: "Every cell" }) });
  assert.equal(await table.locator("tbody tr").count(), rows.length);
  const heads = await table.locator("thead th").allInnerTexts();
  const at = heads.findIndex((head) => head.startsWith("NLPD")) + 1;
  const head = table.locator(`thead th:nth-child(${at})`);
  await head.locator("button").click();
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  const up = await column(table, at);
  assert(rising(up) && Number.isNaN(up.at(-1)), "the failed cell is last");
  assert.equal(up[0], Math.min(...scored.map((row) => row.nlpd)));
  // The other way round by keyboard alone.
  await head.locator("button").focus();
  await page.keyboard.press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  const down = await column(table, at);
  assert(rising(down.slice(0, -1).reverse()) && Number.isNaN(down.at(-1)));
  assert.equal(await table.locator('th[aria-sort]:not([aria-sort="none"])').count(), 1);
});

await look("sweep/report.html", {}, async (page) => {
  const marks = page.locator("figure#study-experts-rff g.mark");
  const tip = page.locator("#tip");
  assert.equal(await page.locator("g.mark > title").count(), 0, "the browser shows no title of its own");
  const box = page.locator("figure#study-experts-rff g.mark.box").nth(3);
  await box.scrollIntoViewIfNeeded();
  const told = await box.getAttribute("aria-label");
  const { x, y, width, height } = await box.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await box.hover({ force: true });
  assert(await tip.isVisible());
  assert(/median/.test(await tip.innerText()), await tip.innerText());
  assert(/median/.test(told));
  await page.mouse.move(2, 2);
  assert(await tip.isHidden());
  // By keyboard: one stop for each figure, arrows inside it.
  await marks.first().focus();
  assert.equal(await tip.innerText(), await marks.first().getAttribute("aria-label"));
  await page.keyboard.press("ArrowRight");
  assert.equal(await tip.innerText(), await marks.nth(1).getAttribute("aria-label"));
  await page.keyboard.press("End");
  assert.equal(await tip.innerText(), await marks.last().getAttribute("aria-label"));
  assert.equal(await page.locator('figure#study-experts-rff g.mark[tabindex="0"]').count(), 1);
  await page.keyboard.press("Escape");
  assert(await tip.isHidden());
});

await look("sweep/report.html", {}, async (page) => {
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  const levels = await page.locator("h1, h2, h3, h4").evaluateAll((all) => all.map((h) => Number(h.tagName[1])));
  assert(levels[0] === 1 && levels.every((level, i) => i === 0 || level - levels[i - 1] <= 1), "headings in order");
  const ids = await page.locator("[id]").evaluateAll((all) => all.map((element) => element.id));
  assert.equal(new Set(ids).size, ids.length, "ids are unique");
});

const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const ink = (page) => page.locator("figure svg text").first().evaluate((text) => getComputedStyle(text).fill);
await look("sweep/report.html", { colorScheme: "dark" }, async (page) => {
  const button = page.locator("#theme");
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  const dark = [await paper(page), await ink(page)];
  await button.focus();
  await page.keyboard.press("Space");
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  const light = [await paper(page), await ink(page)];
  assert.equal(light[0], "rgb(255, 255, 255)");
  assert(dark[0] !== light[0] && dark[1] !== light[1], "drawings follow the page");
  await page.emulateMedia({ media: "print" });
  assert.equal(await paper(page), "rgb(255, 255, 255)");
  assert(await page.locator("nav").isHidden());
});

/** What sticks out of the page, or is cut off in a box that does not scroll. */
const hidden = (page) =>
  page.evaluate(() => {
    const name = (element) => `${element.tagName.toLowerCase()} "${element.textContent.trim().slice(0, 30)}"`;
    const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    const inBox = (element) => element.closest(".scroll, .sheet, pre, .skip, #tip, [hidden]") !== null;
    const all = [...document.body.querySelectorAll("*")];
    const cut = all.filter((e) => !(e instanceof SVGElement) && getComputedStyle(e).overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1 && !scrolls(e));
    const out = all.filter((e) => !inBox(e) && e.getBoundingClientRect().right > innerWidth + 1);
    const reached = all.filter((e) => scrolls(e) && e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0);
    return [...cut, ...out, ...reached].map(name);
  });
/** How much of the width paragraphs and drawings leave empty at the right or the left. */
const empty = (page) =>
  page.evaluate(() => {
    const boxes = [...document.querySelectorAll(".sheet svg, main p")].map((e) => e.getBoundingClientRect());
    const widest = (of) => Math.min(...boxes.filter((box) => box.width > 0).map(of));
    return Math.max(widest((box) => box.left), innerWidth - Math.max(...boxes.map((box) => box.right))) / innerWidth;
  });

for (const file of ["sweep/report.html", "model.html", "three.html", "table.html"]) {
  for (const width of [360, 400, 1200]) {
    await look(file, { viewport: { width, height: 800 } }, async (page) => {
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert(over <= 0, `${file} at ${width}: ${over} too wide`);
      assert.deepEqual(await hidden(page), [], `${file} at ${width}`);
      assert((await empty(page)) < 1 / 3, `${file} at ${width}: a third is empty`);
      const name = `${file.replace(/\W/g, "-")}-${width}.png`;
      await page.screenshot({ path: join(folder, name), fullPage: true });
      assert(statSync(join(folder, name)).size > 20000);
    });
  }
}

/** The figures of a page that have marks, in their order. */
const drawn = (page) => page.locator("figure:has(g.mark)").evaluateAll((all) => all.map((figure) => figure.id));
const FUSION = ["observed", "calibration", "levels", "weights", "pair", "slices", "partial", "trace", "rank"];
for (const [file, told] of [["three.html", "80 rows of the fit, each predicted without itself"], ["table.html", "80 rows of the table"]]) {
  await look(file, {}, async (page) => {
    assert.deepEqual(await drawn(page), FUSION);
    assert((await page.locator("figure#observed figcaption").innerText()).includes(told));
    // Each of five experts along each of three inputs, and on a panel of shades.
    assert.equal(await page.locator("figure#weights g.mark.line").count(), 15);
    assert.equal(await page.locator("figure#pair g.mark.heat").count(), 5);
    const tables = page.locator("#inputs table");
    assert.equal(await tables.nth(0).locator("tbody tr").count(), 4);
    assert.equal(await tables.nth(1).locator("tbody tr").count(), 5);
    assert((await page.locator("#inputs").innerText()).includes("the draws agree on"));
    assert.equal(await page.locator("#worth").count(), 1);
    // The experts beside the fusion, where there is a table.
    const beside = page.locator("#scores table", { has: page.locator("caption", { hasText: "beside each expert" }) });
    assert.equal(await beside.locator("tbody tr").count(), file === "table.html" ? 6 : 0);
  });
}

await look("model.html", {}, async (page) => {
  for (const id of ["observed", "levels", "experts", "draws", "predictive", "weights", "calibration", "trace", "rank"]) {
    const figure = page.locator(`figure#${id}`);
    assert.equal(await figure.count(), 1, id);
    assert((await figure.locator("g.mark").count()) > 0, id);
  }
  assert.equal(await page.locator("img, b").count(), 0);
  assert((await page.locator("body").innerText()).includes(EVIL));
  assert((await page.locator("#scores tbody tr").count()) === 7);
});

// The same name inside an SVG file of its own.
assert(!readFileSync(join(folder, "figures", "predictive.svg"), "utf8").includes("<img"));
await browser.close();
console.log(`${checks} looks at 4 pages: all well`);
