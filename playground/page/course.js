// The course in the page: exercises, chapters, proofs, and what the browser keeps.
"use strict";

// ---- exercises --------------------------------------------------------------------------------------

function listExercises() {
  let chapter = null;
  const rows = [];
  for (const {id, title, max_points: most, chapter: of} of app.exercises) {
    if (of !== chapter) {
      chapter = of;
      const name = of.replace(/^docs\//, "");
      rows.push(element("tr", {}, element("th", {colspan: "3", scope: "colgroup"}, of
        ? element("a", {href: "#chapter=" + name}, name.replace(/\.md$/, "").replace(/_/g, " ")) : "Without a chapter")));
    }
    const mine = app.store.exercise(id);
    const state = mine.full ? "✓ full marks" : mine.passed ? "✓ right" : mine.checks > 0 ? "begun" : "";
    rows.push(element("tr", {},
      element("td", {}, element("a", {href: "#exercise=" + id}, `${parseInt(id, 10)}. ${title}`)),
      element("td", {class: "count"}, `${mine.points}/${most}`), element("td", {class: "done"}, state)));
  }
  byId("list").replaceChildren(element("table", {}, element("tbody", {}, ...rows)));
}

function leaveExercise() {
  app.exercise = null;
  byId("task").hidden = true;
}

async function openExercise(id) {
  const exercise = await app.engine.answer({request: "exercises", exercise: id});
  app.exercise = exercise;
  byId("task").hidden = false;
  byId("task-title").textContent = `${parseInt(exercise.id, 10)}. ${exercise.title}`;
  byId("problem").replaceChildren(...markdown(exercise.problem.replace(/^# .*\n/, ""), {...chapterContext(""), below: 1}), ...factsOf(exercise));
  byId("hints").replaceChildren();
  byId("chapter-of").hidden = !exercise.chapter;
  byId("chapter-of").href = "#chapter=" + exercise.chapter.replace(/^docs\//, "");
  const kept = app.store.program(exercise.file);
  open(exercise.file, kept === undefined ? exercise.starter : kept);
}

function factsOf(exercise) {
  if (exercise.kind !== "program") return questionsOf(exercise);
  const marks = Object.entries(exercise.full_marks).map(([key, formula]) =>
    `${key.replace(/_/g, " ")} ${exercise.predict.includes(key) ? "≤ ?" : `≤ ${formula}`}`);
  const rows = [["Registers", exercise.registers || "as many as you like"], ["Arrays", exercise.arrays.join("  ")],
                ["Full marks", marks.join(", ")]];
  return [element("table", {}, element("tbody", {}, ...rows.filter(([, text]) => text).map(([name, text]) =>
    element("tr", {}, element("th", {scope: "row"}, name), element("td", {}, element("code", {}, text))))))];
}

function questionsOf(exercise) {
  return [element("ol", {}, ...exercise.questions.map(({ask, choices}) => element("li", {}, ...inline(ask, {}),
    choices.length > 0 ? element("ul", {}, ...choices.map((choice, at) =>
      element("li", {}, `(${String.fromCharCode(97 + at)}) `, ...inline(choice, {})))) : null)))];
}

async function check() {
  const {id, file} = app.exercise;
  await busy(byId("result"), byId("stop"), async () => {
    const verdict = await app.engine.answer({request: "check", exercise: id, file, files: {[file]: app.editor.text}, page: true});
    const before = app.store.exercise(id);
    app.store.setProgram(file, app.editor.text);
    app.store.setExercise(id, {...before, points: Math.max(before.points, verdict.points), checks: before.checks + 1,
                               passed: before.passed || verdict.passed, full: before.full || verdict.points === verdict.max_points});
    byId("result").replaceChildren(verdictOf(verdict));
    showPage(verdict.page);
  });
}

function verdictOf(verdict) {
  const best = verdict.points === verdict.max_points;
  const said = element("div", {class: "verdict"},
    element("strong", {class: verdict.passed ? "good" : "bad"}, best ? "✓ Full marks" : verdict.passed ? "✓ Right" : verdict.outcome === "right, but too costly" ? "Right, but too costly" : "Not right yet"),
    element("p", {}, `${verdict.points} of ${verdict.max_points} points`),
    verdict.record ? element("p", {class: "good"}, verdict.record) : null);
  for (const {what, details} of verdict.findings) {
    said.append(element("div", {class: "block"}, element("p", {}, what), details.length > 0 ? element("pre", {tabindex: "0"}, [].concat(details).join("\n")) : null));
  }
  said.append(element("ul", {}, ...verdict.checks.map(({name, passed, message}) =>
    element("li", {class: passed ? "done" : ""}, (passed ? "✓ " : "✗ ") + name + (message ? ": " + message : "")))));
  if (verdict.costs.length > 0) {
    said.append(element("div", {class: "scroller"}, element("table", {}, element("thead", {}, element("tr", {}, ...["Cost", "Yours", "Full marks"].map((name) => element("th", {scope: "col"}, name)))),
      element("tbody", {}, ...verdict.costs.map(({key, value, full}) => element("tr", {}, element("th", {scope: "row"}, key.replace(/_/g, " ")),
        element("td", {class: "count"}, String(value)), element("td", {class: "count"}, String(full))))))));
  }
  const searched = verdict.scores.filter(({proof}) => proof && proof.verdict !== "not searched");
  if (searched.length > 0) said.append(scoresOf(searched));
  if (verdict.passed && verdict.next) {
    const here = app.exercises.findIndex(({id}) => id === verdict.id);
    const next = app.exercises.slice(here + 1).find(({id}) => !app.store.exercise(id).passed) || {id: verdict.next};
    said.append(element("p", {}, element("a", {class: "button", href: "#exercise=" + next.id}, "Next exercise")));
  }
  return said;
}

/// Cycles beside what the best program takes, where that is proved, and beside what no program can avoid.
function scoresOf(scores) {
  const best = ({at_least_cycles: low, at_most_cycles: high}) => low === high ? String(low) : `${low} to ${high}`;
  return element("div", {class: "scroller"}, element("table", {}, element("thead", {}, element("tr", {},
    ...["Cycles", "Yours", "Your order allows", "Proven best", "Floor"].map((name) => element("th", {scope: "col"}, name)))),
  element("tbody", {}, ...scores.map(({size, cycles, order, proof}) => element("tr", {},
    element("th", {scope: "row"}, Object.entries(size).map(([name, value]) => `${name} = ${value}`).join(", ") || "all sizes"),
    ...[cycles, order ? order.cycles : "", best(proof), proof.floor_cycles].map((value) =>
      element("td", {class: "count"}, String(value))))))));
}

async function hint() {
  const {id} = app.exercise;
  const entry = app.store.exercise(id);
  const level = Math.min(byId("hints").children.length + 1, 4);
  if (level === 4 && !confirm("The last hint is the solution. Show it?")) return;
  try {
    const {name, text} = await app.engine.answer({request: "hint", exercise: id, level});
    const shown = element("div", {class: "block"}, element("strong", {}, `Hint ${level} of 4, ${name}`), ...markdown(text, {below: 2}));
    if (byId("hints").children.length < 4) byId("hints").append(shown);
    app.store.setExercise(id, {...entry, hints: Math.max(entry.hints, level)});
  } catch (error) {
    tell(error.message);
  }
}

// ---- chapters ---------------------------------------------------------------------------------------

async function loadedChapters() {
  if (app.chapters) return;
  const {chapters, pictures, figure} = await unpacked("course", "application/json").json();
  app.chapters = chapters;
  app.pictures = pictures;
  app.figureScript = figure;
}

/// The figure that moves; its script is packed with the course, and read when the first one is shown.
async function movingFigure(data) {
  await loadedChapters();
  if (typeof MovingFigure === "undefined") {
    await new Promise((done, fail) => {
      const src = URL.createObjectURL(new Blob([app.figureScript], {type: "text/javascript"}));
      document.head.append(element("script", {src, onload: done, onerror: () => fail(new Error("the figure's script cannot be read"))}));
    });
  }
  return new MovingFigure(data).element;
}

function chapterContext(page) {
  return {
    page,
    open: true,
    known: (name) => app.chapters && app.chapters[name] !== undefined,
    picture: (path) => app.pictures[path] && "data:image/svg+xml," + encodeURIComponent(app.pictures[path]),
    question(number, fold) {
      const input = element("input", {type: "text", maxlength: "1000", value: app.store.prediction(page, number), onchange: () => {
        app.store.setPrediction(page, number, input.value);
        fold.open = fold.open || input.value !== "";
      }});
      return element("p", {class: "question"}, element("label", {}, "Your prediction, then the answer opens: ", input));
    },
    /// Stills of a figure get a button that puts the figure in their place.
    moving(block, about) {
      const found = /\$ flashlab figure (\w+)(.*) --svg -$/.exec(about);
      if (!found) return;
      const params = Object.fromEntries([...found[2].matchAll(/(\w+)=(\d+)/g)].map(([, name, value]) => [name, Number(value)]));
      const button = element("button", {type: "button", class: "main", onclick: async () => {
        button.disabled = true;
        button.textContent = "Running …";
        try {
          const figure = await movingFigure(await app.engine.answer({request: "figure", program: found[1], params}));
          block.replaceWith(figure);
          figure.focus();
        } catch (error) {
          button.replaceWith(element("span", {class: "bad"}, error.message));
        }
      }}, "Let it move");
      block.append(element("br"), button);
    },
    block(block, about, text) {
      const file = /^file: toymachine\/programs\/(\w+)\.toy/.exec(about);
      const command = /^\$ flashlab (?:run|trace|cost|debug|timeline|optimal|picture \w+|sweep) (\w+)/.exec(about);
      const name = (file || command || [])[1];
      if (about.startsWith("$ ")) block.prepend(element("p", {class: "note"}, element("code", {}, about)));
      if (name && app.bundled.some((one) => one.name === name)) {
        block.append(element("p", {}, element("a", {class: "button", href: "#program=" + name}, `Open ${name}`)));
      } else if (/^\s*(\.(registers|param|input)|LOAD )/m.test(text)) {
        block.append(element("p", {}, element("button", {type: "button", onclick: () => {
          openCopy("example.toy", text);
          location.hash = "#edit";
        }}, "Open in the editor")));
      }
    },
  };
}

async function openChapter(name) {
  await loadedChapters();
  const text = app.chapters[name];
  if (text === undefined) throw new Error(`there is no chapter "${name.slice(0, 60)}"`);
  const names = Object.keys(app.chapters).filter((one) => /^\d/.test(one));
  const list = element("nav", {"aria-label": "Chapters"}, ...names.map((one) =>
    element("a", {href: "#chapter=" + one, "aria-current": one === name ? "page" : null}, /^0*(\d+[a-z]?)/.exec(one)[1])));
  byId("chapter").replaceChildren(list, ...markdown(text, chapterContext(name)));
  window.scrollTo(0, 0);
}

// ---- proofs -----------------------------------------------------------------------------------------

async function prove(event) {
  event.preventDefault();
  await busy(byId("proofs"), byId("stop-search"), async () => {
    byId("proofs").replaceChildren(element("p", {}, "Searching …"));
    const registers = byId("machines").value.trim();
    const request = {request: "optimal", computation: byId("computation").value.trim(), files: files(), operands: byId("operands").value, most_seconds: 60};
    if (registers) request.registers = registers;
    const {points} = await app.engine.answer(request);
    byId("proofs").replaceChildren(element("div", {class: "scroller"}, element("table", {}, element("thead", {}, element("tr", {},
      ...["Registers", "Products", "Cycles", "Verdict", "Loads", "Seconds", ""].map((name) => element("th", {scope: "col"}, name)))),
    element("tbody", {}, ...points.map((point) => element("tr", {},
      element("td", {class: "count"}, String(point.registers)), element("td", {}, point.operands || ""),
      element("td", {class: "count"}, point.at_most_cycles === null ? "" : point.verdict === "bounded" ? `${point.at_least_cycles} to ${point.at_most_cycles}` : String(point.at_most_cycles)),
      element("td", {}, point.verdict === "optimal" ? "proved optimal" : point.verdict === "impossible" ? "proved impossible" : "not proved"),
      element("td", {class: "count"}, point.loads === null ? "" : String(point.loads)), element("td", {class: "count"}, point.seconds.toFixed(2)),
      element("td", {}, point.program ? element("button", {type: "button", onclick: () => {
        openCopy(`best_${point.registers}_registers.toy`, point.program);
        location.hash = "#edit";
      }}, "Open") : null)))))));
  });
}

// ---- what is kept -----------------------------------------------------------------------------------

function listKept() {
  const entries = app.exercises.map(({id}) => app.store.exercise(id));
  const points = entries.reduce((sum, {points: earned}) => sum + earned, 0);
  const most = app.exercises.reduce((sum, {max_points: possible}) => sum + possible, 0);
  byId("kept-facts").textContent = `${entries.filter(({passed}) => passed).length} of ${entries.length} exercises done, ${Number(points.toFixed(6))} of ${Number(most.toFixed(6))} points.`;
  byId("kept-list").replaceChildren(...Object.keys(app.store.state.programs).sort().map((name) => element("li", {},
    element("button", {type: "button", class: "plain", onclick: () => {
      leaveExercise();
      open(name, app.store.program(name));
      location.hash = "#edit";
    }}, name))));
}

function setUpCourse() {
  byId("check").onclick = check;
  byId("hint").onclick = hint;
  byId("restart").onclick = () => {
    if (confirm("Replace your text by the one the exercise starts with?")) {
      app.editor.text = app.exercise.starter;
      changed();
    }
  };
  byId("search").onsubmit = prove;
  byId("export").onclick = () => download("flashlab.json", app.store.exported());
  byId("new").onclick = () => {
    openCopy("mine.toy", "; what it computes\n.registers 4\n.param n = 4\n.input x[n]\n.output y[n]\nfor i in 0..n\n  LOAD x[i], R0\n  ADD R0, R0, R1\n  STORE R1, y[i]\nend\n");
    location.hash = "#edit";
  };
  byId("import").onchange = async ({target}) => {
    try {
      const file = target.files[0];
      if (file.size > 4 * kMostImport) throw new Error("the file is longer than 4 MB");
      app.store.import(await file.text());
      tell("Imported.");
    } catch (error) {
      tell("Nothing was imported: " + error.message);
    }
    target.value = "";
    listNames();
    listKept();
  };
}

start();
