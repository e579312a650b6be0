// The page: views, the program in the editor, runs, exercises, chapters, proofs.
"use strict";

const byId = (id) => document.getElementById(id);
const search = new URLSearchParams(location.search);
const kSteps = 2000;  // shown by the player

function tell(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = text === "";
}

const app = {store: new Store(tell), name: "", exercise: null, exercises: [], chapters: null, pictures: {}, readOnly: search.get("readonly") === "1"};

// ---- requests ---------------------------------------------------------------------------------------

function files() { return {...app.store.state.programs, [app.name]: app.editor.text}; }

/// Returns {n: 8} of "n=8, d=4". Throws an Error for anything else.
function params() {
  const values = {};
  for (const part of byId("params").value.split(/[,\s]+/).filter(Boolean)) {
    const found = /^(\w+)=(-?\d{1,15})$/.exec(part);
    if (!found) throw new Error(`Sizes: "${part.slice(0, 40)}" is no size, expected n=8`);
    values[found[1]] = Number(found[2]);
  }
  return values;
}

function machine() {
  const request = {program: app.name, files: files(), params: params()};
  if (byId("cost").value.trim()) request.cost = byId("cost").value.trim();
  const registers = byId("registers").value.trim();
  if (registers) {
    if (!/^\d{1,9}$/.test(registers)) throw new Error(`Registers: "${registers.slice(0, 40)}" is no whole number`);
    request.registers = Number(registers);
  }
  return request;
}

/// Runs `work` with the stop button shown, and shows an error in `into`.
async function busy(into, stop, work) {
  stop.hidden = false;
  into.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    const what = error instanceof Stopped ? "Stopped. The program is still there." : error.message;
    into.replaceChildren(element("pre", {class: "bad"}, what));
  } finally {
    stop.hidden = true;
    into.removeAttribute("aria-busy");
  }
}

function showPage(page) {
  byId("player").hidden = !page;
  if (page) byId("player").srcdoc = page;
}

// ---- the program ------------------------------------------------------------------------------------

let checkTimer = 0;
function changed() {
  if (!app.readOnly) app.store.setProgram(app.name, app.editor.text);
  clearTimeout(checkTimer);
  checkTimer = setTimeout(checkText, 150);
}

async function checkText() {
  if (!app.name.endsWith(".toy")) return;
  const text = app.editor.text;
  try {
    const answer = await app.typing.answer({request: "document", file: "program.toy", files: {"program.toy": text}});
    if (text === app.editor.text) app.editor.show(answer);
  } catch (error) {
    if (!(error instanceof Stopped)) tell(error.message);
  }
}

function listNames() {
  const names = new Set([...Object.keys(app.store.state.programs), app.name]);
  byId("name").replaceChildren(
    element("optgroup", {label: "Yours"}, ...[...names].filter(Boolean).sort().map((name) =>
      element("option", {value: name, selected: name === app.name}, name))),
    element("optgroup", {label: "Of the course"}, ...app.bundled.map(({name, title}) =>
      element("option", {value: "course:" + name, title}, name))));
}

function open(name, text) {
  app.name = name;
  app.editor.text = text;
  app.editor.readOnly = app.readOnly;
  byId("result").replaceChildren(element("p", {class: "note"}, "Run shows every step, forwards and backwards."));
  showPage(null);
  for (const field of document.querySelectorAll(".machine")) field.hidden = !name.endsWith(".toy");
  for (const id of ["run", "formulas", "tiles"]) byId(id).hidden = !name.endsWith(".toy");
  listNames();
  checkText();
}

/// Opens a program under a name that no other text has.
function openCopy(name, text) {
  let free = name;
  for (let n = 2; app.store.program(free) !== undefined && app.store.program(free) !== text; ++n) {
    free = name.replace(/\.toy$/, "") + "-" + n + ".toy";
  }
  leaveExercise();
  open(free, text);
}

async function openBundled(name) {
  const text = app.texts.get(name) ?? (await app.engine.answer({request: "programs", name})).text;
  openCopy(name + ".toy", text);
}

function counterTable(run) {
  const shown = ["loads", "stores", "compute", "cycles", "flops", "exps", "bytes_loaded", "bytes_stored", "peak_registers"];
  return element("table", {}, element("tbody", {}, ...shown.filter((key) => run[key] !== undefined).map((key) =>
    element("tr", {}, element("th", {scope: "row"}, key.replace(/_/g, " ")),
            element("td", {class: "count"}, Number(run[key]).toLocaleString("en").replace(/,/g, " "))))));
}

async function run() {
  await busy(byId("result"), byId("stop"), async () => {
    const request = machine();
    showPage(null);
    const began = performance.now();
    const traced = await app.engine.ask({request: "trace", page: true, to: kSteps, ...request});
    if (traced.answer) showPage(traced.answer.page);
    const counted = traced.ok ? await app.engine.ask({request: "run", ...request}) : traced;
    if (!counted.ok) throw new Error(counted.error.text);
    const milliseconds = Math.round(performance.now() - began);
    const outputs = Object.entries(counted.answer.outputs).map(([name, values]) =>
      element("p", {}, element("code", {}, name + " = " + JSON.stringify(values).replace(/,/g, ", ").slice(0, 600))));
    byId("result").replaceChildren(
      element("p", {}, element("strong", {class: "good"}, "It ran"), ` in ${milliseconds} ms` +
              (counted.answer.steps > kSteps ? `; the player has the first ${kSteps} steps` : "")),
      counterTable(counted.answer), ...outputs);
  });
}

async function formulas() {
  await busy(byId("result"), byId("stop"), async () => {
    const cost = await app.engine.answer({request: "cost", ...machine()});
    showPage(null);
    if (!cost.formula) {
      byId("result").replaceChildren(element("p", {}, "No formula holds for all sizes. The numbers at these:"), counterTable(cost.value));
      return;
    }
    const shown = ["loads", "stores", "compute", "cycles", "flops", "exps", "bytes_loaded", "bytes_stored"];
    byId("result").replaceChildren(
      element("p", {}, cost.domain ? "Exact for all " + cost.domain + "." : "Exact for all sizes."),
      element("div", {class: "scroller"}, element("table", {}, element("thead", {}, element("tr", {},
        element("th", {scope: "col"}, "Counter"), element("th", {scope: "col"}, "Formula"), element("th", {scope: "col", class: "count"}, "Here"))),
      element("tbody", {}, ...shown.filter((key) => cost.formula[key]).map((key) => element("tr", {},
        element("th", {scope: "row"}, key.replace(/_/g, " ")), element("td", {}, element("code", {}, cost.formula[key])),
        element("td", {class: "count"}, cost.value ? String(cost.value[key]) : "")))))));
  });
}

/// The tiles of the program in the editor, with a run for each choice of their sizes.
async function tiles() {
  await busy(byId("result"), byId("stop"), async () => {
    const data = await app.engine.answer({request: "figure", ...machine()});
    showPage(null);
    byId("result").replaceChildren(await movingFigure(data));
  });
}

async function share() {
  try {
    const link = await linkOf({name: app.name, text: app.editor.text});
    history.replaceState(null, "", "#" + link);
    await navigator.clipboard.writeText(location.href).catch(() => {});
    tell("The address of this page now holds the program, and was copied if the browser allows it.");
  } catch (error) {
    tell(error.message);
  }
}

function download(name, text) {
  const link = element("a", {href: URL.createObjectURL(new Blob([text], {type: "text/plain"})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- start ------------------------------------------------------------------------------------------

const views = ["edit", "exercises", "chapters", "optimal", "kept"];

function show(view) {
  for (const id of views) byId(id).hidden = id !== view;
  for (const link of document.querySelectorAll("nav [data-view]")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

async function route() {
  const [what, value = ""] = location.hash.slice(1).split(/=(.*)/s);
  tell("");
  try {
    if (what === "p") {
      const {name, text} = await programOfLink(value);
      openCopy(name, text);
      show("edit");
    } else if (what === "exercise") {
      await openExercise(decodeURIComponent(value));
      show("edit");
    } else if (what === "program") {
      await openBundled(decodeURIComponent(value));
      show("edit");
    } else if (what === "chapter" || what === "chapters") {
      await openChapter(decodeURIComponent(value) || "index.md");
      show("chapters");
    } else if (views.includes(what)) {
      if (what === "exercises") listExercises();
      if (what === "kept") listKept();
      show(what);
    } else {
      show("edit");
    }
  } catch (error) {
    show("edit");
    tell("This address cannot be followed: " + error.message);
  }
}

function missing() {
  const needed = {WebAssembly: typeof WebAssembly, Worker: typeof Worker, DecompressionStream: typeof DecompressionStream,
                  CompressionStream: typeof CompressionStream, ResizeObserver: typeof ResizeObserver};
  return Object.keys(needed).filter((name) => needed[name] === "undefined");
}

async function start() {
  window.onerror = null;  // this browser reads the page's scripts
  const lacks = missing();
  if (lacks.length > 0) {
    tell("This browser is too old: it has no " + lacks.join(", ") + ". Firefox 113, Chrome 95 and Safari 16.4 have them.");
    return;
  }
  app.engine = new Engine(600000);
  app.typing = new Engine(2000);
  app.engine.ready.catch((error) => tell("flashlab cannot start in this browser: " + error.message));
  const first = JSON.parse(byId("first").textContent);  // what these requests would answer
  app.exercises = first.exercises;
  app.bundled = first.programs;
  app.texts = new Map(Object.entries(first.texts));
  app.editor = new Editor(byId("editor"), first.isa.map(({mnemonic}) => mnemonic), changed);
  byId("run").onclick = run;
  byId("formulas").onclick = formulas;
  byId("tiles").onclick = tiles;
  byId("stop").onclick = byId("stop-search").onclick = () => app.engine.stop();
  byId("share").onclick = share;
  byId("download").onclick = () => download(app.name, app.editor.text);
  byId("name").onchange = ({target}) => {
    if (target.value.startsWith("course:")) openBundled(target.value.slice(7));
    else {
      leaveExercise();
      open(target.value, app.store.program(target.value) || "");
    }
  };
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || byId("edit").hidden) return;
    event.preventDefault();
    if (app.exercise) check();
    else run();
  });
  setUpCourse();
  if (search.has("exercise")) await openExercise(search.get("exercise")).catch((error) => tell(error.message));
  else await openBundled(search.get("program") || "softmax_online").catch((error) => tell(error.message));
  if (search.has("exercise") || search.has("program")) document.body.classList.add("embedded");
  window.addEventListener("hashchange", route);
  const problem = byId("notice").textContent;
  await route();
  if (problem && problem !== "Starting …") tell(problem);
  window.readySeconds = performance.now() / 1000;
  document.documentElement.dataset.ready = "yes";
}
