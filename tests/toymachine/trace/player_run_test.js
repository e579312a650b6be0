// Runs in the page under test, after the player: walks through the trace and its timeline, and
// leaves what the page shows as JSON in an element that player_run_test.cpp reads.
(async () => {
  const find = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const texts = (selector) => all(selector).map((e) => e.textContent);
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const press = (key) => document.body.dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles : true, cancelable : true }));
  const where = () => find("#where").textContent;
  const markup = () => find(".state").outerHTML + find(".text").outerHTML;
  const click = (element) => element.dispatchEvent(new MouseEvent("click", { bubbles : true }));
  const rowText = (row) => [...row.cells].map((c) => c.textContent).join(" ");

  /** Whether an element of the program is in the part that its box shows. */
  function inSight(selector) {
    const place = find(selector)?.getBoundingClientRect();
    const box = find(".program").getBoundingClientRect();
    return Boolean(place) && place.top >= box.top && place.bottom <= box.bottom;
  }

  /** What a reader of the page sees. */
  function page() {
    const cells = {};
    for (const figure of all("#memory figure"))
      cells[figure.querySelector("b").textContent] =
          [...figure.querySelectorAll(".cell")].map((c) => c.textContent);
    return {
      names : texts("#registers .name"),
      shapes : all(".register").map((r) => r.querySelector(".shape")?.textContent ?? ""),
      tiles : all(".register").map((r) => [...r.querySelectorAll("tr")].map(rowText).join("/")),
      symbols : texts("#registers .big"),
      effect : find("#effect").textContent,
      explained : texts("#names li"),
      made : all(".register").map((r) => r.querySelector(".made")?.textContent ?? ""),
      places : all(".register").map((r) => r.querySelector(".part")?.textContent ?? ""),
      maps : all(".register").map((r) => r.querySelector(".map")?.getAttribute("aria-label") ?? ""),
      grids : texts("#meetings figcaption"),
      pairs : all("#meetings .pairs").map((g) => ({
        numbers : [...g.querySelectorAll("text:not(.axis)")].map((t) => t.textContent).join(" "),
        now : g.querySelectorAll(".now-here").length,
        last : g.querySelectorAll(".last-here").length,
      })),
      nextLine : find("#program .next .number")?.textContent,
      inSight : inSight("#program [aria-current], #program .next"),
      row : find("#steps [aria-current]")?.textContent,
      marked : all("#lanes .chosen").length,
      detail : find("#detail").textContent,
      cells,
    };
  }

  /** Every position, and that it looks the same from the other side. */
  function walk(report) {
    const last = Number(find("#scrubber").max);
    const seen = [];
    report.steps = [];
    for (let p = 0; p <= last; ++p, press("ArrowRight")) {
      seen.push(markup());
      report.steps.push(page());
    }
    report.differing = [];
    for (let p = last; p >= 0; --p, press("ArrowLeft"))
      if (markup() !== seen[p]) report.differing.push(p);
  }

  function timeline(report) {
    report.note = find("#timeline-note").textContent;
    if (!find("#lanes figure")) return;
    report.models = texts("#models label");
    report.model = find("#lanes figcaption").textContent;
    report.causes = all("#causes tbody tr").map((row) => rowText(row).replace(/\u00a0/g, " "));
    report.sums = all("#causes tbody tr:not(.sum)").map((row) => [...row.cells].slice(1)
      .reduce((sum, cell) => sum + (parseFloat(cell.textContent) || 0), 0));
    report.verdict = find("#verdict").textContent;
    press("Home");
    click(all("#lanes .load")[1] ?? find("#lanes .load"));
    report.clicked = where();
    press("Home");
    if (find("#lanes .data")) click(find("#lanes .data"));
    report.clickedWait = where();
    find("#models [value='0']").click();
    report.serial = find("#lanes figcaption").textContent;
    report.serialRows = find("#causes [aria-current] .sum").textContent;
    report.serialMarked = all("#lanes .chosen").length;
    for (const id of ["all", "in", "out"]) find(`#${id}`).click();
  }

  /** The places to which a name and the buttons for pairs lead. */
  function jumps(report) {
    press("Home");
    report.jumps = {};
    if (find("#pair-forward").checkVisibility?.() ?? true) {
      for (const id of ["pair-forward", "pair-forward", "pair-back"]) {
        find(`#${id}`).click();
        (report.jumps.pairs ??= []).push(where());
      }
    }
    press("Home");
    for (let p = 0; p < report.steps.length && !find("#names button"); ++p) press("ArrowRight");
    find("#names button")?.click();
    report.jumps.name = where();
  }

  /** What of the cards lies under the controls when the page is scrolled to its end. */
  function covered() {
    scrollTo(0, document.documentElement.scrollHeight);
    if (getComputedStyle(find(".transport")).position !== "fixed") return 0;
    const bar = find(".transport").getBoundingClientRect();
    return all("section, .keys").filter((section) => {
      const box = section.getBoundingClientRect();
      return box.bottom > bar.top && box.height > 0;
    }).length;
  }

  const report = { errors : window.errorsSoFar };
  try {
    for (let i = 0; i < 500 && find("#player").hidden; ++i) await pause(10);
    report.heads = texts("#steps thead th");
    walk(report);
    timeline(report);
    jumps(report);
    report.covered = covered();
    report.barHeight = find(".transport").offsetHeight;
    press("End");
    report.counters = {};
    for (const row of find("#counters").tBodies[0].rows)
      report.counters[row.cells[0].textContent] = row.cells[1].textContent;
  } catch (error) {
    report.errors.push(`driver: ${error.stack}`);
  }
  report.widest = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const json = JSON.stringify(report).replace(
      /[<>&\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  document.body.append(
      Object.assign(document.createElement("pre"), { id : "report", textContent : json }));
})();
