// Runs in the page under test, after its own script: presses its keys and buttons, and leaves what
// it shows as JSON in an element that timeline_page_test.cpp reads.
(async () => {
  const find = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const texts = (selector) => all(selector).map((e) => e.textContent);
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const press = (key) => find("#lanes").dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles : true, cancelable : true }));
  const detail = () => find("#detail").textContent;
  const report = { errors : window.errorsSoFar };
  try {
    report.title = find("#title").textContent;
    report.figures = texts("#lanes figcaption");
    report.captions = texts("#sums .caption");
    report.legend = texts("#legend li");
    report.lines = all("#lines tbody tr").map((row) => [...row.cells].map((c) => c.textContent));
    press("ArrowRight");
    report.first = detail();
    press("ArrowRight");
    report.second = detail();
    press("ArrowDown");
    report.below = detail();
    report.chosen = all("#lanes .chosen").length;
    report.line = find("#lines [aria-current]")?.textContent;
    for (let i = 0; i < 50; ++i) press("ArrowDown");
    report.lowest = detail();
    for (let i = 0; i < 50; ++i) press("ArrowRight");
    report.last = detail();
    find("#all").click();
    const elided = find("#lanes .elided");
    if (elided) {
      elided.dispatchEvent(new MouseEvent("click", { bubbles : true }));
      report.elided = detail();
    }
    const boxes = all("#lanes rect:not(.bed)").length;
    find("#in").click();
    press("+");
    report.fewer = all("#lanes rect:not(.bed)").length < boxes;
    press("0");
    report.same = all("#lanes rect:not(.bed)").length === boxes;
    find("#lanes .load").dispatchEvent(new MouseEvent("click", { bubbles : true }));
    report.clicked = detail();
    find("#model").value = "0";
    find("#model").dispatchEvent(new Event("change"));
    report.serialLines = all("#lines tbody tr").map((row) => row.cells[3].textContent);
    await pause(50);
  } catch (error) {
    report.errors.push(`driver: ${error.stack}`);
  }
  report.hacked = window.hacked ?? null;
  report.images = document.images.length;
  report.widest = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const json = JSON.stringify(report).replace(
      /[<>&\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  document.body.append(
      Object.assign(document.createElement("pre"), { id : "report", textContent : json }));
})();
