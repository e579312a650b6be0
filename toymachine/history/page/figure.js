// The figure that moves: a run in pictures. The tiles beside the matrix are what is loaded and
// stored, a tile in the matrix exists while a register holds it. What a picture shows is a function
// of its number alone. new MovingFigure(data, {controls}).element; data: figure_json.hpp.
"use strict";

const MovingFigure = (() => {
const kSvgName = "http://www.w3.org/2000/svg";
const kWidth = 480;        // of the picture, in its own units
const kMatrix = 280;       // most units of the matrix's longer side
const kGap = 10;
const kLetter = 8.6;       // units of a letter
const kRows = 8;           // most lines of numbers in a register
const [kCompute, kLoad, kStore, kUpdate, kMeeting, kProduct] = [0, 1, 2, 3, 4, 5];

function html(tag, classes = "", ...children) {
  const made = document.createElement(tag);
  if (classes) made.className = classes;
  made.append(...children);
  return made;
}

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(kSvgName, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
/** Two decimals, so that tiles stay columns. */
function shown(value) {
  if (typeof value !== "number") return value.replace("inf", "∞").replace("-", "−");
  const text = Number.isInteger(value) || Math.abs(value) >= 1000 ? value.toPrecision(3) : value.toFixed(2);
  return (Number.isInteger(value) && Math.abs(value) < 1e5 ? String(value) : text).replace("-", "−");
}
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

/** "row 2", "rows 2 to 3" of an axis in tiles. */
function rangeOf({ extent, tile }, index) {
  const first = index * tile, last = Math.min(first + tile, extent) - 1;
  return first === last ? `row ${first}` : `rows ${first} to ${last}`;
}

/** The lists of the JSON as objects, and what is looked up often. */
function runOf(json) {
  const run = { ...json, frames: [{ kind: -1, pass: 0, step: 0, texts: [], bytes: 0, writes: [] }] };
  run.byNumber = new Map(json.arrays.map((array) => [array.number, array]));
  run.history = json.registers.map(() => []);  // by register: its writes, in order
  for (const [kind, pass, step, texts, array, row, column, elements, bytes, writes, register] of json.frames) {
    const number = run.frames.length;
    run.frames.push({ kind, pass, step, texts, array: run.byNumber.get(array), row, column, elements,
                      bytes, register, writes: writes.map((one) => writeOf(one, number)) });
    for (const write of run.frames[number].writes) run.history[write.register].push(write);
  }
  // Q[0] is Q if there is no Q[1].
  const single = (text) => text.replace(/(\w+)\[0\]/g, (whole, name) =>
    json.registers.includes(`${name}[1]`) ? whole : name);
  run.name = (register) => single(json.registers[register]);
  run.role = (pass, register) =>
    single(json.roles.find(([p, r]) => p === pass && r === register)?.[2] ?? "");
  run.shown = json.registers.map((_, number) => number).filter((number) => run.history[number].length);
  run.height = json.registers.map((_, number) =>
    Math.max(1, ...run.history[number].map(({ rows }) => rows)));
  return run;
}

function writeOf([register, rows, columns, lastRead, row, column, array, elements], frame) {
  return { register, rows, columns, lastRead, row, column, array, elements, frame };
}

/** What registers hold and what has moved after the picture `at`. */
function stateAt(run, at) {
  const state = { registers: [], loads: new Map(), stores: new Map(), met: new Set(), pair: null,
                  loaded: 0, stored: 0, byArray: new Map() };
  for (const number of run.shown) {
    const write = run.history[number].findLast(({ frame }) => frame <= at);
    if (!write) continue;
    state.registers[number] = { ...write, isLive: write.frame === at || write.lastRead >= at,
                                isNew: write.frame === at };
  }
  const count = (map, { array, row, column }) => {
    const key = `${array.number} ${row} ${column}`;
    map.set(key, (map.get(key) ?? 0) + 1);
  };
  for (let i = 1; i <= at; ++i) {
    const frame = run.frames[i];
    if (frame.kind === kMeeting) {
      state.met.add(`${frame.row} ${frame.column}`);
      state.pair = frame;
    }
    if (!frame.array) continue;
    const half = frame.kind === kUpdate ? frame.bytes / 2 : frame.bytes;
    const sums = state.byArray.get(frame.array.name) ?? { loaded: 0, stored: 0 };
    if (frame.kind !== kStore) {
      count(state.loads, frame);
      state.loaded += half;
      sums.loaded += half;
    }
    if (frame.kind !== kLoad) {
      count(state.stores, frame);
      state.stored += half;
      sums.stored += half;
    }
    state.byArray.set(frame.array.name, sums);
  }
  return state;
}

// ---- The picture

/** Where the matrix and the arrays beside it stand. */
function layoutOf(run) {
  const slots = { left: [], right: [], above: [], below: [] };
  for (const array of run.arrays) {
    const isInput = array.role === "input";
    if (array.side === "rows") slots[isInput ? "left" : "right"].push(array);
    if (array.side === "columns") slots[isInput ? "above" : "below"].push(array);
  }
  const thick = (array) => clamp(array.columns * 7, 22, 38);
  const wide = (array) => Math.max(thick(array), array.name.length * kLetter + 2);
  const sum = (list, of) => list.reduce((all, one) => all + of(one) + kGap, 0);
  const names = Math.max(0, ...[...slots.above, ...slots.below].map(({ name }) => name.length * kLetter + 8));
  const left = Math.max(sum(slots.left, wide), names) + 4;
  const right = sum(slots.right, wide) + 4;
  const side = Math.min(kMatrix, kWidth - left - right);
  const cell = side / Math.max(run.rows.extent, run.columns.extent);
  const layout = { cell, width: cell * run.columns.extent, height: cell * run.rows.extent, strips: [] };
  layout.x = left;
  layout.all = left + layout.width + right;
  layout.y = sum(slots.above, thick) + 24;
  let at = layout.x - kGap;
  for (const array of slots.left.toReversed()) {
    at -= wide(array);
    layout.strips.push({ array, x: at + (wide(array) - thick(array)) / 2, thick: thick(array) });
    at -= kGap;
  }
  at = layout.x + layout.width + kGap;
  for (const array of slots.right) {
    layout.strips.push({ array, x: at + (wide(array) - thick(array)) / 2, thick: thick(array) });
    at += wide(array) + kGap;
  }
  at = layout.y - kGap;
  for (const array of slots.above.toReversed()) {
    at -= thick(array);
    layout.strips.push({ array, y: at, thick: thick(array) });
    at -= kGap;
  }
  at = layout.y + layout.height + 26;
  for (const array of slots.below) {
    layout.strips.push({ array, y: at, thick: thick(array) });
    at += thick(array) + kGap;
  }
  layout.total = at + 2;
  return layout;
}

/** The rectangle of a tile: along an axis of the matrix, or in it. */
function spanOf(axis, index, cell) {
  const first = index * axis.tile;
  return [first * cell, Math.min(axis.tile, axis.extent - first) * cell];
}

function box(x, y, width, height, classes) {
  return svg("rect", { x, y, width, height, class: classes });
}

function words(x, y, text, classes) {
  return svg("text", { x, y, class: classes }, text);
}

/** An array beside the matrix: tile by tile, what a register holds, what moves, how often so far. */
function drawStrip({ array, x, y, thick }, run, layout, state, frame) {
  const isRows = array.side === "rows";
  const axis = { extent: array.rows, tile: array.tile[0], count: Math.ceil(array.rows / array.tile[0]) };
  const parts = [];
  for (let index = 0; index < axis.count; ++index) {
    const [from, length] = spanOf(axis, index, layout.cell);
    const at = isRows ? { x, y: layout.y + from, width: thick, height: length }
                      : { x: layout.x + from, y, width: length, height: thick };
    const isHere = (place) => (isRows ? place.row : place.column) === index;
    const holder = run.shown.find((number) => {
      const held = state.registers[number];
      return held?.isLive && held.array === array.number && isHere(held);
    });
    const maker = run.shown.find((number) => {
      const held = state.registers[number];
      return held?.isLive && held.array < 0 && isHere(held) && run.makes.get(number) === array.number
        && (isRows ? held.column < 0 : held.row < 0);
    });
    const isMoved = frame.array === array && isHere(frame);
    const sum = (map) => [...map].reduce((most, [key, count]) => {
      const [number, row, column] = key.split(" ").map(Number);
      return number === array.number && isHere({ row, column }) ? Math.max(most, count) : most;
    }, 0);
    const loads = sum(state.loads), stores = sum(state.stores);
    const inDram = array.role === "input" || stores > 0;
    const isHeld = holder !== undefined || maker !== undefined;
    parts.push(box(at.x, at.y, at.width, at.height, isHeld ? "mf-held" : inDram ? "mf-dram" : "mf-empty"));
    if (isMoved) parts.push(box(at.x + 1, at.y + 1, at.width - 2, at.height - 2, "mf-moved"));
    const name = isHeld ? run.name(holder ?? maker) : "";
    const times = array.role === "input" || loads > 0 ? loads : stores;
    const lines = [name, times > 0 ? `${times}×` : ""].filter(Boolean);
    const middle = { x: at.x + at.width / 2, y: at.y + at.height / 2 };
    const isBeside = lines.join(" ").length * kLetter + 4 <= at.width;
    const texts = isBeside ? [lines.join(" ")] : at.height >= 38 ? lines : lines.slice(0, 1);
    texts.forEach((text, i) => {
      const fits = text.length * kLetter - 2 <= at.width && at.height >= 14;
      const below = (i - (texts.length - 1) / 2) * 16 + 5;
      if (text && fits) parts.push(words(middle.x, middle.y + below, text, isHeld ? "mf-inverse" : "mf-count"));
    });
  }
  const label = isRows ? words(x + thick / 2, layout.y + layout.height + 17, array.name, "mf-name")
                       : words(layout.x - 8, y + thick / 2 + 5, array.name, "mf-name mf-end");
  return [...parts, label];
}

/** The numbers of a tile as shades; a masked one stays blank. */
function drawShades(held, x, y, width, height) {
  const numbers = held.elements.filter((one) => typeof one === "number");
  const low = Math.min(...numbers), high = Math.max(...numbers);
  const parts = [];
  const w = width / held.columns, h = height / held.rows;
  held.elements.forEach((value, i) => {
    const at = [x + (i % held.columns) * w, y + Math.floor(i / held.columns) * h];
    if (value === "-inf") {
      parts.push(box(...at, w, h, "mf-masked"));
      parts.push(svg("path", { class: "mf-cross", d: `M${at[0]} ${at[1]}l${w} ${h}` }));
      return;
    }
    const shade = box(...at, w, h, "mf-shade");
    const part = high > low ? (value - low) / (high - low) : 0.5;
    shade.setAttribute("fill-opacity", (0.3 + 0.6 * part).toFixed(2));
    parts.push(shade);
  });
  return parts;
}

function drawMatrix(run, layout, state, frame) {
  const { x, y, width, height, cell } = layout;
  const parts = [box(x, y, width, height, "mf-matrix")];
  const { pair } = state;
  const place = (row, column) => {
    const [dy, h] = spanOf(run.rows, row, cell), [dx, w] = spanOf(run.columns, column, cell);
    return [x + dx, y + dy, w, h];
  };
  const held = run.shown.map((number) => state.registers[number])
    .filter((one) => one?.isLive && one.row >= 0 && one.column >= 0 && one.array < 0);
  if (pair && held.length) {
    const [px, py, w, h] = place(held.at(-1).row, held.at(-1).column);
    parts.push(box(x, py, width, h, "mf-band"), box(px, y, w, height, "mf-band"));
  }
  for (const array of run.arrays.filter(({ side }) => side === "matrix")) {
    for (const key of state.stores.keys()) {
      const [number, row, column] = key.split(" ").map(Number);
      if (number === array.number) parts.push(box(...place(row, column), "mf-dram"));
    }
  }
  for (const key of state.met) {
    const [px, py, w, h] = place(...key.split(" ").map(Number));
    parts.push(svg("circle", { cx: px + w / 2, cy: py + h / 2, r: Math.min(3, w / 5), class: "mf-met" }));
  }
  let lines = "";
  for (let i = 1; i < run.rows.count; ++i) lines += `M${x} ${y + i * run.rows.tile * cell}h${width}`;
  for (let i = 1; i < run.columns.count; ++i) lines += `M${x + i * run.columns.tile * cell} ${y}v${height}`;
  parts.push(svg("path", { class: "mf-lines", d: lines }));
  for (const key of new Set(held.map(({ row, column }) => `${row} ${column}`))) {
    const here = held.filter(({ row, column }) => `${row} ${column}` === key);
    const at = place(here[0].row, here[0].column);
    const newest = here.reduce((a, b) => (b.frame >= a.frame ? b : a));
    parts.push(box(...at, "mf-paper"));
    const isSame = newest.elements.length === newest.rows * newest.columns && newest.elements.length > 0;
    if (isSame) parts.push(...drawShades(newest, ...at));
    parts.push(box(...at, isSame ? "mf-frame" : "mf-frame mf-shade-all"));
    const name = here.map(({ register }) => run.name(register)).join(" ");
    if (name.length * kLetter + 4 <= at[2] && at[3] >= 16) {
      parts.push(words(at[0] + at[2] / 2, at[1] + at[3] / 2 + 5, name, "mf-halo"));
    }
  }
  const stored = run.arrays.filter(({ side }) => side === "matrix").map(({ name }) => name);
  const size = `${run.rows.extent} × ${run.columns.extent}`;
  parts.push(words(x + width / 2, y + height + 17, stored.length ? `${size}, ${stored.join(", ")} in DRAM` : `${size}, never in DRAM`, "mf-count"));
  if (frame.array?.side === "matrix" && frame.row >= 0 && frame.column >= 0) {
    parts.push(box(...place(frame.row, frame.column), "mf-moved"));
  }
  return parts;
}

function drawPicture(run, state, at, text) {
  const layout = layoutOf(run);
  const frame = run.frames[at];
  const size = { viewBox: `0 0 ${layout.all} ${layout.total}`, width: layout.all, height: layout.total };
  return svg("svg", { ...size, role: "img", "aria-label": text },
             ...drawMatrix(run, layout, state, frame),
             ...layout.strips.flatMap((strip) => drawStrip(strip, run, layout, state, frame)));
}

// ---- The words

/** What happens in a picture: a sentence. */
function sentenceOf(run, at) {
  const frame = run.frames[at];
  const { name } = run;
  const names = (list) => list.map(({ register }) => name(register)).join(", ");
  if (at === 0) return "Before the first step: the inputs are in DRAM, and no register holds anything.";
  const { array } = frame;
  const part = () => {
    const isRows = array.side !== "columns";
    const index = isRows ? frame.row : frame.column;
    const axis = { extent: array.rows, tile: array.tile[0] };
    if (array.side === "matrix") return `${array.name}, ${rangeOf(run.rows, frame.row)} × ${rangeOf(run.columns, frame.column).replace("row", "column")},`;
    return index >= 0 ? `${array.name} ${rangeOf(axis, index)}` : array.name;
  };
  const size = () => `${grouped(frame.elements)} numbers, ${grouped(frame.bytes)} bytes`;
  if (frame.kind === kLoad) {
    const loaded = frame.writes.filter((one) => one.array === array.number);
    return `Load ${part()} into ${names(loaded)}: ${size()}.`;
  }
  if (frame.kind === kStore) return `Store ${name(frame.register)} as ${part()}: ${size()}.`;
  if (frame.kind === kUpdate) return `Add ${name(frame.register)} to ${part()} in DRAM, which reads and writes: ${size()}.`;
  const made = frame.writes.at(-1);
  if (frame.kind === kMeeting) {
    const { rows, columns } = run;
    return `${rows.array} ${rangeOf(rows, frame.row)} meet${frame.row * rows.tile + 1 >= rows.extent || rows.tile === 1 ? "s" : ""} `
      + `${columns.array} ${rangeOf(columns, frame.column)}: ${made.rows} × ${made.columns} numbers of ${name(made.register)} appear.`;
  }
  if (frame.kind === kProduct) return `${name(made.register)} changes: ${run.role(frame.pass, made.register)}.`;
  return `In registers alone: ${names(frame.writes)} change${frame.writes.length === 1 ? "s" : ""}.`;
}

function placeText(run, held) {
  const own = run.byNumber.get(held.array)?.name;
  const parts = [];
  if (held.row >= 0) parts.push(`${own ?? run.rows.array} ${rangeOf(run.rows, held.row)}`);
  if (held.column >= 0) parts.push(`${own ?? run.columns.array} ${rangeOf(run.columns, held.column)}`);
  return own ? parts.join(", ") : `for ${parts.join(" × ")}`;
}

function registerCard(run, state, frame, number) {
  const held = state.registers[number];
  const isLive = Boolean(held?.isLive);
  const tag = !held ? "empty" : held.isNew ? (frame.kind === kLoad && held.array >= 0 ? "loaded" : "changed")
    : isLive ? "" : "no longer needed";
  const card = html("li", `mf-card${held?.isNew ? " mf-new" : ""}${isLive ? "" : " mf-dead"}`);
  const head = html("div", "mf-head", html("b", "", run.name(number)), html("span", "mf-tag", tag));
  const role = run.role(held ? run.frames[held.frame].pass : frame.pass, number) || "\u00a0";
  card.append(head, html("div", "mf-role", role), html("div", "mf-place", held && (held.row >= 0 || held.column >= 0) ? placeText(run, held) : "\u00a0"));
  const table = html("div", "mf-values");
  table.style.setProperty("--mf-rows", Math.min(kRows, run.height[number]));
  if (held) table.append(...valuesOf(held));
  card.append(table);
  return card;
}

function valuesOf(held) {
  if (!held.elements.length) return [html("span", "", `${held.rows} × ${held.columns} numbers`)];
  const texts = held.elements.map(shown);
  const width = Math.max(5, ...texts.map((text) => text.length));
  const columns = held.columns <= (width > 5 ? 3 : 4) ? held.columns : 3;  // what a card on a phone has room for
  const lines = [];
  for (let r = 0; r < (held.rows > kRows ? kRows - 1 : held.rows); ++r) {
    const row = texts.slice(r * held.columns, r * held.columns + columns);
    lines.push(row.map((text) => text.padStart(width)).join(" ") + (columns < held.columns ? "…" : ""));
  }
  if (held.rows > kRows) lines.push("⋮".padStart(width));
  return lines.map((line) => html("div", "", line));
}

// ---- The figure

const kButtons = [
  ["first", "First", "Home", "M6 5h2.5v14H6zM20 5v14l-10-7z"], ["back", "Back", "ArrowLeft", "M17.5 5v14L6.5 12z"],
  ["play", "Play", "Space", "M7 4.5v15l13-7.5z"], ["forward", "Forward", "ArrowRight", "M6.5 5v14l11-7z"],
  ["last", "Last", "End", "M15.5 5H18v14h-2.5zM4 5v14l10-7z"]];
const kPause = "M6.5 5h4v14h-4zM13.5 5h4v14h-4z";

class Figure {
  constructor(data, { controls = true } = {}) {
    this.data = data;
    this.runs = new Map();
    this.hasControls = controls;
    this.timer = 0;
    this.chosen = data.opens;
    this.at = 0;
    this.caption = html("p", "mf-caption");
    this.code = html("p", "mf-code");
    this.stage = html("div", "mf-stage");
    this.bytes = html("div", "mf-bytes");
    this.cards = html("ul", "mf-cards");
    const legend = html("p", "mf-legend", ...[["held", "in a register now, with its name"],
      ["dram", "in DRAM; 2×: moved twice so far"], ["moved", "moves in this picture"], ["met", "has met, and is gone again"]]
      .flatMap(([key, text]) => [html("span", "", html("span", `mf-key mf-key-${key}`), text), " "]));
    this.element = html("figure", "moving");
    if (controls) this.element.append(this.makeControls());
    // The player has panels of its own for the instruction and the registers.
    const left = html("div", "mf-left", this.stage, legend, controls ? this.code : "");
    const inside = controls ? [html("div", "mf-inside", html("h4", "", "In registers"), this.cards)] : [];
    this.element.append(this.caption, html("div", "mf-body", left, html("div", "", this.bytes), ...inside));
    this.go(0);
  }

  get run() {
    if (!this.runs.has(this.chosen)) {
      const json = this.data.runs[this.chosen];
      const run = json.missing ? null : runOf(json);
      if (run) run.makes = makersOf(run);
      this.runs.set(this.chosen, run);
    }
    return this.runs.get(this.chosen);
  }
  get last() { return this.run ? this.run.frames.length - 1 : 0; }

  // ---- Going somewhere

  go(target) {
    this.at = clamp(Math.round(target) || 0, 0, this.last);
    this.draw();
  }

  /** The same by the reader's hand: it ends the playing. */
  move(target) {
    if (this.timer) this.setPlaying(false);
    this.go(target);
  }

  /** The first picture that is not before this step. */
  showStep(step) {
    const found = this.run.frames.findIndex((frame) => frame.step >= step);
    this.go(found < 0 ? this.last : found);
  }

  setPlaying(on) {
    clearTimeout(this.timer);
    this.timer = 0;
    if (on && this.at === this.last) this.go(0);
    const tick = () => {
      this.go(this.at + 1);
      if (this.at < this.last) this.timer = setTimeout(tick, 1000 / this.speed.value);
      else this.setPlaying(false);
    };
    if (on) this.timer = setTimeout(tick, 1000 / this.speed.value);
    this.buttons.play.setAttribute("aria-label", on ? "Pause" : "Play");
    this.buttons.play.querySelector("path").setAttribute("d", on ? kPause : kButtons[2][3]);
    this.caption.setAttribute("aria-live", on ? "off" : "polite");
  }

  /** Another size of tiles: the same part of the run. */
  choose(values) {
    const part = this.last ? this.at / this.last : 0;
    const found = this.data.runs.findIndex((one) => String(one.values) === String(values));
    this.chosen = found;
    this.go(part * this.last);
  }

  // ---- The reader's hands

  makeControls() {
    this.buttons = {};
    const buttons = html("div", "mf-buttons");
    const actions = {
      first: () => this.move(0), back: () => this.move(this.at - 1), play: () => this.setPlaying(!this.timer),
      forward: () => this.move(this.at + 1), last: () => this.move(this.last) };
    for (const [id, label, key, path] of kButtons) {
      const button = html("button", "mf-button", svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: path })));
      Object.assign(button, { type: "button", title: `${label} (${key})` });
      button.setAttribute("aria-label", label);
      button.addEventListener("click", actions[id]);
      this.buttons[id] = button;
      buttons.append(button);
    }
    this.scrubber = Object.assign(html("input"), { type: "range", min: 0, step: 1 });
    this.scrubber.setAttribute("aria-label", "Picture");
    this.scrubber.addEventListener("input", () => this.move(Number(this.scrubber.value)));
    this.where = html("output", "mf-where");
    this.speed = html("select", "", ...[1, 2, 5, 20].map((speed) =>
      Object.assign(html("option", "", `${speed} / s`), { value: speed, selected: speed === 2 })));
    this.speed.setAttribute("aria-label", "Pictures a second");
    const sliders = html("div", "mf-sliders");
    this.values = [...this.data.runs[this.chosen].values];
    this.data.sliders.forEach((slider, i) => sliders.append(this.makeSlider(slider, i)));
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", `${this.data.program}, picture by picture. Arrow keys: back and forward. Space: play.`);
    this.element.addEventListener("keydown", (event) => this.key(event, actions));
    return html("div", "mf-controls", buttons, this.speed, html("div", "mf-scrub", this.scrubber, this.where), sliders);
  }

  makeSlider({ name, values }, index) {
    const input = Object.assign(html("input"), { type: "range", min: 0, max: values.length - 1, step: 1,
                                                 value: values.indexOf(this.values[index]) });
    const shownValue = html("output", "", String(this.values[index]));
    const axis = this.data.runs[this.chosen][index === 0 ? "rows" : "columns"];
    const what = `rows in a tile of ${axis.array}`;
    input.setAttribute("aria-label", `${name}, ${what}`);
    const show = () => {
      this.values[index] = values[input.value];
      shownValue.textContent = values[input.value];
      input.setAttribute("aria-valuetext", `${name} = ${values[input.value]}`);
    };
    show();
    input.addEventListener("input", () => {
      if (this.timer) this.setPlaying(false);
      show();
      this.choose(this.values);
    });
    return html("label", "", html("span", "", html("b", "", name), ` = `, shownValue, html("small", "", what)), input);
  }

  /** Keys belong to the figure, except where the focused control has a use of its own for them. */
  key(event, actions) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const name = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", " ": "play" }[event.key];
    const control = event.target.closest("input, select, button");
    if (!name || (control && !(control.matches("button") && event.key !== " "))) return;
    event.preventDefault();
    event.stopPropagation();
    actions[name]();
  }

  // ---- Showing

  draw() {
    const { run, at } = this;
    if (this.scrubber) {
      Object.assign(this.scrubber, { max: this.last, value: at });
      this.where.textContent = `${at} of ${this.last}`;
      for (const id of ["first", "back"]) this.buttons[id].ariaDisabled = at === 0;
      for (const id of ["last", "forward"]) this.buttons[id].ariaDisabled = at === this.last;
    }
    for (const part of [this.code, this.stage, this.bytes, this.cards]) part.replaceChildren();
    if (!run) {
      this.caption.textContent = `No pictures at this size: ${this.data.runs[this.chosen].missing}.`;
      return;
    }
    const frame = run.frames[at];
    const state = stateAt(run, at);
    const text = sentenceOf(run, at);
    const pass = run.passes[frame.pass];
    const first = at > 0 ? run.frames[at - 1].step + 1 : 0;
    const steps = first === frame.step ? `Step ${first}: ` : `Steps ${first} to ${frame.step}: `;
    const which = this.hasControls || at === 0 ? "" : html("span", "mf-pass", steps);  // the player counts steps
    this.caption.replaceChildren(which, html("b", "", text), pass ? html("span", "mf-pass", ` Pass: ${pass}.`) : "");
    const codes = frame.texts.map((number) => html("code", "", run.texts[number]));
    this.code.append(...(codes.length ? codes.flatMap((code) => [code, " "]) : ["\u00a0"]));
    this.stage.append(drawPicture(run, state, at, text));
    this.drawBytes(run, state);
    this.cards.append(...run.shown.map((number) => registerCard(run, state, frame, number)));
  }

  drawBytes(run, state) {
    const all = stateAt(run, this.last);
    const { program } = this.data;
    const { beside } = run;
    const most = Math.max(all.loaded, all.stored, beside?.loaded ?? 0, beside?.stored ?? 0, 1);
    const bar = (now, total, classes) => {
      const track = html("span", "mf-bar");
      const fill = (classes, value) => {
        const part = html("span", classes);
        part.style.width = `${(100 * value) / most}%`;
        track.append(part);
      };
      fill("mf-total", total);
      if (now > 0) fill(classes, now);
      return track;
    };
    const line = (name, now, total, classes) => html("tr", "", Object.assign(html("th", "", name), { scope: "row" }), html("td", "", bar(now, total, classes)),
      html("td", "mf-number", now === total ? `${grouped(now)} bytes` : `${grouped(now)} of ${grouped(total)}`));
    const group = (what, key) => html("tbody", "",
      html("tr", "", Object.assign(html("th", "mf-group", what), { colSpan: 3, scope: "rowgroup" })),
      line(`${program}, so far`, state[key], all[key], "mf-now"), ...(beside ? [line(`${beside.program}, in all`, beside[key], beside[key], "mf-other")] : []));
    const each = [...all.byArray.keys()].map((name) => {
      const now = state.byArray.get(name) ?? { loaded: 0, stored: 0 }, total = all.byArray.get(name);
      const parts = [];
      if (total.loaded) parts.push(`${grouped(now.loaded)} loaded`);
      if (total.stored) parts.push(`${grouped(now.stored)} stored`);
      return html("span", "", html("b", "", name), ` ${parts.join(", ")}`);
    });
    const table = html("table", "", Object.assign(html("caption"), { textContent: "Bytes between DRAM and registers" }), group("Loaded", "loaded"), group("Stored", "stored"));
    this.bytes.append(table, html("p", "mf-each", ...each.flatMap((one) => [one, " "])));
  }
}

/** Which array each register is stored to, if it is always the same. */
function makersOf(run) {
  const makes = new Map();
  for (const { kind, register, array } of run.frames) {
    if (kind === kStore && array.role !== "input") makes.set(register, array.number);
  }
  return makes;
}

return Figure;
})();
