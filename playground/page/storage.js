// What the browser keeps: a program for each name, and the progress. Storage may be forbidden or full;
// then everything stays in memory, and a notice says so.
"use strict";

const kStoreKey = "flashlab-playground";
const kMostImport = 4 << 20;  // characters of an imported file or link

class Store {
  constructor(tell) {
    this.tell = tell;
    this.state = checkedState({format: kStoreKey, version: 1, programs: {}, exercises: {}});
    let text = null;
    try {
      text = localStorage.getItem(kStoreKey);
      if (text) this.state = checkedState(JSON.parse(text));
    } catch (error) {
      this.setAside(text, error);
    }
  }

  /// Keeps a text that cannot be read under another key, because save() replaces it.
  setAside(text, error) {
    if (text === null) {
      this.tell("This browser keeps nothing (" + error.name + "). Export your work before you close the page.");
      return;
    }
    const key = kStoreKey + "-unreadable";
    try {
      if (localStorage.getItem(key) === null) localStorage.setItem(key, text);
      this.tell(`What this browser kept cannot be read (${error.message}). It is now in the browser's storage as "${key}".`);
    } catch (full) {
      this.tell(`What this browser kept cannot be read (${error.message}), and is replaced when you change a program.`);
    }
  }

  save() {
    try {
      localStorage.setItem(kStoreKey, JSON.stringify(this.state));
    } catch (error) {
      this.tell("This browser keeps nothing (" + error.name + "). Export your work before you close the page.");
    }
  }

  program(name) { return this.state.programs[name]; }
  setProgram(name, text) {
    this.state.programs[name] = text;
    this.save();
  }

  exercise(id) {
    return this.state.exercises[id] || {points: 0, passed: false, full: false, hints: 0, checks: 0};
  }
  setExercise(id, entry) {
    this.state.exercises[id] = entry;
    this.save();
  }

  /// What was predicted for a question of a page; empty: nothing.
  prediction(page, question) { return this.state.predictions[page + " " + question] || ""; }
  setPrediction(page, question, text) {
    this.state.predictions[page + " " + question] = text;
    this.save();
  }

  exported() { return JSON.stringify(this.state, null, 1); }

  /// Adds what a file holds. A program with another text keeps its name; the imported one gets a new name.
  import(text) {
    if (text.length > kMostImport) throw new Error("the file is longer than 4 MB");
    const other = checkedState(JSON.parse(text));
    for (const [name, program] of Object.entries(other.programs)) {
      let free = name;
      for (let n = 2; this.state.programs[free] !== undefined && this.state.programs[free] !== program; ++n) {
        free = name.replace(/(\.toy|\.txt)?$/, `-${n}$1`);
      }
      this.state.programs[free] = program;
    }
    for (const [id, entry] of Object.entries(other.exercises)) {
      const mine = this.exercise(id);
      this.state.exercises[id] = entry.points >= mine.points ? entry : mine;
    }
    this.state.predictions = Object.assign(other.predictions, this.state.predictions);
    this.save();
  }
}

/// Returns the state if it is one; throws an Error that names what is wrong.
function checkedState(state) {
  const expect = (good, what) => { if (!good) throw new Error(what); };
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  expect(isObject(state) && state.format === kStoreKey, "this is no file that the playground exported");
  expect(state.version === 1, `version ${String(state.version).slice(0, 20)} instead of 1`);
  expect(isObject(state.programs) && isObject(state.exercises), "programs or exercises are missing");
  const predictions = state.predictions === undefined ? {} : state.predictions;  // older versions kept none
  expect(isObject(predictions), "predictions are no object");
  const clean = {format: kStoreKey, version: 1, programs: Object.create(null), exercises: Object.create(null),
                 predictions: Object.create(null)};
  for (const [question, text] of Object.entries(predictions)) {
    expect(typeof text === "string" && text.length <= 1000, `the prediction ${question.slice(0, 80)} is no short text`);
    clean.predictions[question] = text;
  }
  for (const [name, text] of Object.entries(state.programs)) {
    expect(typeof text === "string" && name.length <= 80, `the program ${name.slice(0, 80)} is no text`);
    clean.programs[name] = text;
  }
  for (const [id, entry] of Object.entries(state.exercises)) {
    expect(isObject(entry) && Number.isFinite(entry.points), `the exercise ${id.slice(0, 80)} has no points`);
    // What an older version kept in hundredths is rounded down to tenths, as the grader does.
    const points = entry.full ? entry.points : Math.floor(entry.points * 10 * (1 + 1e-12)) / 10;
    clean.exercises[id] = {points, passed: Boolean(entry.passed), full: Boolean(entry.full),
                           hints: Number(entry.hints) || 0, checks: Number(entry.checks) || 0};
  }
  return clean;
}

const kMostLink = 30000;  // characters that every browser and most chats pass on

/// Returns "p=…" for a program: gzip in the alphabet of addresses.
async function linkOf(program) {
  const stream = new Blob([JSON.stringify(program)]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  const link = btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  if (link.length > kMostLink) throw new Error("the program is too long for a link; export it as a file");
  return "p=" + link;
}

/// Returns {name, text} of a link. Throws an Error for anything else, however long it becomes.
async function programOfLink(link) {
  if (link.length > kMostImport) throw new Error("the link is too long");
  const bytes = Uint8Array.from(atob(link.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const decoder = new TextDecoder("utf-8", {fatal: true});
  let text = "";
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    text += decoder.decode(value, {stream: true});
    if (text.length > kMostImport) throw new Error("the link holds more than 4 MB");
  }
  const program = JSON.parse(text);
  if (typeof program !== "object" || program === null || typeof program.text !== "string" ||
      typeof program.name !== "string" || program.name.length > 80) {
    throw new Error("the link holds no program");
  }
  return {name: program.name, text: program.text};
}
