// Runs in the page under test, after the player: presses its keys and buttons, and leaves what the
// page shows as JSON in an element that player_test.cpp reads from the browser's dump of the
// document.
(async () => {
  const find = (selector) => document.querySelector(selector);
  const texts = (selector) => [...document.querySelectorAll(selector)].map((e) => e.textContent);
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const press = (key, target = document.body) => target.dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles : true, cancelable : true }));
  const markup = () => find(".state").outerHTML + find(".text").outerHTML;
  const where = () => find("#where").textContent;

  function set(selector, value, event) {
    find(selector).value = value;
    find(selector).dispatchEvent(new Event(event, { bubbles : true }));
  }

  /** What a reader of the page sees. */
  function page() {
    const counters = {};
    for (const row of find("#counters").tBodies[0].rows)
      counters[row.cells[0].textContent] = row.cells[1].textContent;
    return {
      where : where(),
      instruction : find("#instruction").textContent,
      effect : find("#effect").textContent,
      registers : texts("#registers .big"),
      tags : texts("#registers .tag"),
      values : texts("#registers .small"),
      cells : texts("#memory .cell"),
      claims : texts("#claims li"),
      chips : texts("#loops li"),
      line : find("#program [aria-current] .number")?.textContent,
      live : find("#live").textContent,
      row : find("#steps [aria-current]")?.textContent,
      counters,
      scrubber : find("#scrubber").value,
    };
  }

  async function keys(report) {
    report.start = page();
    const first = markup();
    for (let i = 0; i < 3; ++i) press("ArrowRight");
    report.third = page();
    for (let i = 0; i < 3; ++i) press("ArrowLeft");
    report.sameAfterForthAndBack = markup() === first;
    press("ArrowLeft");
    report.leftOfStart = where();
    press("End");
    report.end = page();
    press("ArrowRight");
    report.rightOfEnd = where();
    press("ArrowLeft", find("#jump-step"));
    report.keyInField = where();
    press("Home");
    report.home = where();
  }

  async function playing(report) {
    press(" ");
    report.playLabel = find("#play").getAttribute("aria-label");
    await pause(1200);
    press(" ");
    report.paused = where();
    await pause(1200);
    report.stillPaused = where();
    find("#play").click();
    await pause(6000);
    report.played = where();
    report.playedLabel = find("#play").getAttribute("aria-label");
  }

  async function controls(report) {
    const clicks = {};
    for (const id of ["first", "forward", "forward", "back", "last"]) {
      find(`#${id}`).click();
      clicks[id] = where();
    }
    report.clicks = clicks;
    set("#scrubber", "4", "input");
    report.scrubbed = page();
    find("#jump-step").value = "5";
    find("#jump").requestSubmit();
    report.jumped = where();
    await pause(300);
    report.hash = location.hash;
    location.hash = "#step=2";
    await pause(50);
    report.linked = where();
    location.hash = "#player";
    await pause(50);
    report.skipped = where();
    find("#steps tbody tr:nth-child(4)").click();
    report.rowClicked = where();
    find("#shown [value=values]").click();
    report.asValues = page();
    find("#shown [value=symbols]").click();
    find("#passes tr:last-child button").focus();
    find("#passes tr:last-child button").click();
    report.passClicked = where();
    report.passFocused = document.activeElement.textContent;
  }

  /** Every position must look the same however it was reached. */
  function everyPosition(report) {
    const last = Number(find("#scrubber").max);
    const seen = [];
    press("Home");
    for (let p = 0; p <= last; ++p, press("ArrowRight")) seen.push(markup());
    report.differing = [];
    for (let p = last; p >= 0; --p, press("ArrowLeft"))
      if (markup() !== seen[p]) report.differing.push(p);
    for (let i = 0, p = 0; i < 50; ++i, p = (p * 5 + 3) % (last + 1)) {
      set("#scrubber", String(p), "input");
      if (markup() !== seen[p]) report.differing.push(p);
    }
  }

  const report = { errors : window.errorsSoFar };
  try {
    for (let i = 0; i < 500 && find("#player").hidden; ++i) await pause(10);
    await keys(report);
    await playing(report);
    await controls(report);
    everyPosition(report);
  } catch (error) {
    report.errors.push(`driver: ${error.stack}`);
  }
  report.notice = find("#notice").textContent;
  report.title = document.title;
  report.hacked = window.hacked ?? null;
  report.images = document.images.length;
  report.bold = texts("#title b, #program i, #memory i").length;
  report.widest = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  report.cut = find(".program").scrollWidth - find(".program").clientWidth;
  report.grids = document.querySelectorAll(".grid").length;
  report.scrolling = [...document.querySelectorAll(".grid")].filter(
      (grid) => grid.scrollWidth > grid.clientWidth || grid.scrollHeight > grid.clientHeight).length;
  const json = JSON.stringify(report).replace(
      /[<>&\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  document.body.append(
      Object.assign(document.createElement("pre"), { id : "report", textContent : json }));
})();
