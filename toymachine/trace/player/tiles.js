// Which part of which array a register holds, and which tile meets which: small maps. A place is
// marked by a filled field or a thick frame, never by colour alone.
"use strict";

const kMapSize = 34;        // pixels of the longer side of a register's map
const kMapFields = 16;      // beyond, no lines between tiles
const kGridSize = 224;      // pixels of the longer side of a grid of pairs
const kGridFields = 48;     // rows and columns in sight
const kWidestField = 34;
const kNumberedField = 20;  // from this width on a pair shows when it met
const kMostGrids = 4;

function svgNode(tag, attributes, ...children) {
  const element = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** One axis of an array: its elements, those of a tile, and how many tiles. */
function axisOf(array, axis) {
  const extent = array.shape[axis] ?? 1;
  const tile = array.tile[axis] ?? 1;
  return { extent, tile, count: Math.max(1, Math.ceil(extent / tile)) };
}

/** A strip as the trace has it, ["q", 0, 1] or ["q", 1, 1, [0]]: rows or columns of one tile. */
function stripOf(trace, [name, axis, index, before = []]) {
  const array = trace.arraysByName.get(name);
  return array && { array, axis, index, before, ...axisOf(array, axis) };
}

/** "rows 2 to 3", "column 4". */
function rangeText({ array, axis, index, tile, extent }) {
  const first = index * tile;
  const last = Math.min(first + tile, extent) - 1;
  const what = axis === array.shape.length - 1 && axis > 0 ? "column" : "row";
  return first === last ? `${what} ${first}` : `${what}s ${first} to ${last}`;
}

/** "q rows 2 to 3", with the axes before the last two: "q[1] rows 2 to 3". */
const stripText = (strip) => `${strip.array.name}${bracketed(strip.before)} ${rangeText(strip)}`;

/**
 * Where a register's value belongs: {text, rows, columns, isPart}, with strips or nothing; null if
 * it is not known. It is a part of an array, or made for rows of one and columns of another.
 */
function placeOf(trace, origin) {
  if (origin?.tile) {
    const { array: name, index } = origin.tile;
    const array = trace.arraysByName.get(name);
    if (!array?.isTiled || index.length === 0) return null;
    const last = index.length - 1;
    const before = index.slice(0, -2);
    const strip = (axis) => axis >= 0 && stripOf(trace, [name, axis, index[axis], before]);
    const axes = [strip(last - 1), strip(last)];
    const strips = axes.map((one) => (one && one.extent > 1 ? one : undefined));
    const parts = strips.filter((one) => one && one.count > 1).map(rangeText);
    const text = `${name}${bracketed(before)} ${parts.join(", ") || "whole"}`;
    return { text, rows: strips[0], columns: strips[1], isPart: true };
  }
  const rows = origin?.rows && stripOf(trace, origin.rows);
  const columns = origin?.columns && stripOf(trace, origin.columns);
  if (!rows && !columns) return null;
  const text = `for ${[rows, columns].filter(Boolean).map(stripText).join(" × ")}`;
  return { text, rows, columns, isPart: false };
}

/** A picture of all rows and columns, with the place filled. */
function placeMap({ text, rows, columns, isPart }) {
  const [height, width] = [rows, columns].map((strip) => strip?.extent ?? 1);
  const scale = (kMapSize - 2) / Math.max(height, width);
  const h = Math.max(10, height * scale), w = Math.max(10, width * scale);
  const map = svgNode("svg", {
    class: "map", width: w + 2, height: h + 2, viewBox: `-1 -1 ${w + 2} ${h + 2}`, role: "img",
    "aria-label": text,
  });
  const span = (strip, size) => {
    if (!strip) return [0, size];
    const from = (strip.index * strip.tile * size) / strip.extent;
    return [from, Math.max(2, Math.min(size - from, (strip.tile * size) / strip.extent))];
  };
  const [y, dy] = span(rows, h), [x, dx] = span(columns, w);
  let lines = "";
  for (let i = 1; rows && rows.count <= kMapFields && i < rows.count; ++i)
    lines += `M0 ${(i * rows.tile * h) / rows.extent}H${w}`;
  for (let i = 1; columns && columns.count <= kMapFields && i < columns.count; ++i)
    lines += `M${(i * columns.tile * w) / columns.extent} 0V${h}`;
  const here = { class: isPart ? "here" : "here made-for", x, y, width: dx, height: dy };
  map.append(svgNode("rect", { class: "frame", width: w, height: h }),
             svgNode("path", { class: "lines", d: lines }), svgNode("rect", here));
  return map;
}

// ---- Pairs

const sameStrip = (a, b) =>
  a && b && a.array === b.array && a.axis === b.axis && String(a.before) === String(b.before);

/** The products of tiles in a trace: for two arrays in a pass a grid of pairs and their positions. */
class Meetings {
  constructor() {
    this.grids = new Map();
    this.at = [];  // positions at which another pair met
  }

  add(trace, { meets, pass = 0 }, position) {
    const rows = stripOf(trace, meets.rows);
    const columns = stripOf(trace, meets.columns);
    if (!rows || !columns) return;
    const part = ({ array, axis, before }) => [array.name, axis, before];
    const key = JSON.stringify([pass, part(rows), part(columns)]);
    let grid = this.grids.get(key);
    if (!grid) {
      grid = { pass, rows, columns, at: [], pairs: [], first: new Map() };
      this.grids.set(key, grid);
    }
    const pair = rows.index * columns.count + columns.index;
    if (!grid.first.has(pair)) grid.first.set(pair, { at: position, number: grid.first.size + 1 });
    if (grid.pairs.at(-1) !== pair) this.at.push(position);
    grid.at.push(position);
    grid.pairs.push(pair);
  }

  /** The position of the next meeting of another pair, or of the one before. */
  other(position, forward) {
    const count = countUpTo(this.at, forward ? position : position - 1);
    return forward ? this.at[count] : this.at[count - 1];
  }
}

/** The pair of a step's product, or of a tile of a product that it reads; else the last one. */
function currentPair(grid, { trace, step, position }) {
  const places = [];
  if (step?.meets) places.push(step.meets);
  for (const number of step?.register_reads || []) {
    places.push(trace.register(number, position - 1)?.origin);
  }
  for (const place of places) {
    if (!place?.rows || !place?.columns) continue;
    const rows = stripOf(trace, place.rows), columns = stripOf(trace, place.columns);
    if (sameStrip(rows, grid.rows) && sameStrip(columns, grid.columns)) {
      return { pair: rows.index * grid.columns.count + columns.index, isNow: true };
    }
  }
  const count = countUpTo(grid.at, position);
  return count > 0 ? { pair: grid.pairs[count - 1], isNow: false } : null;
}

function drawMeetings(view, goTo) {
  const { trace } = view;
  byId("meetings-section").hidden = trace.meetings.grids.size === 0;
  if (trace.meetings.grids.size === 0) return;
  byId("meetings").replaceChildren(...gridsOf(view).map((grid) => gridFigure(grid, view, goTo)));
}

/** Those of the step's pass, or of the last pass before it that had one. */
function gridsOf({ trace, step, position }) {
  const all = [...trace.meetings.grids.values()];
  const isOf = (pass) => (grid) => grid.pass === pass;
  const hasSome = step && all.some(isOf(step.pass ?? 0));
  const before = all.findLast((grid) => grid.at[0] <= position) ?? all[0];
  const grids = all.filter(isOf(hasSome ? step.pass ?? 0 : before.pass));
  const met = grids.filter((grid) => grid.at[0] <= position);
  return grids.length > kMostGrids ? (met.length ? met : grids).slice(-kMostGrids) : grids;
}

function gridFigure(grid, view, goTo) {
  const { rows, columns } = grid;
  const current = currentPair(grid, view);
  const name = ({ array, before }) => array.name + bracketed(before);
  const done = [...grid.first.values()].filter(({ at }) => at <= view.position).length;
  const at = (strip, index) => rangeText({ ...strip, index });
  let text = "none has met yet";
  if (current) {
    const row = Math.floor(current.pair / columns.count), column = current.pair % columns.count;
    const pair = `${name(rows)} ${at(rows, row)} with ${name(columns)} ${at(columns, column)}`;
    text = current.isNow ? pair : `last: ${pair}`;
  }
  const all = rows.count * columns.count;
  const count = node("span", "count", `${grouped(done)} of ${grouped(all)} pairs have met`);
  const title = node("b", "", `${name(rows)} × ${name(columns)}`);
  const caption = node("figcaption", "", title, `  ${text}`, count);
  return node("figure", "", caption, ...pairGrid(grid, current, view, goTo, text));
}

function pairGrid(grid, current, { trace, position }, goTo, text) {
  const { rows, columns } = grid;
  const most = Math.min(kGridFields, Math.max(rows.count, columns.count));
  const size = Math.min(kWidestField, Math.floor(kGridSize / most));
  const pair = current?.pair ?? 0;
  const row0 = windowStart(Math.floor(pair / columns.count), kGridFields, rows.count);
  const column0 = windowStart(pair % columns.count, kGridFields, columns.count);
  const height = Math.min(kGridFields, rows.count - row0);
  const width = Math.min(kGridFields, columns.count - column0);
  const label = 18;
  const [w, h] = [width * size, height * size];
  const picture = svgNode("svg", {
    class: "pairs", width: w + label + 4, height: h + label + 4, role: "img", "aria-label": text,
    viewBox: `${-label - 2} ${-label - 2} ${w + label + 4} ${h + label + 4}`,
  });
  const place = (one) => [(one % columns.count) - column0, Math.floor(one / columns.count) - row0];
  const isInSight = ([x, y]) => x >= 0 && y >= 0 && x < width && y < height;
  let fields = "";
  const numbers = [];
  for (const [one, { at, number }] of grid.first) {
    const [x, y] = place(one);
    if (at > position || !isInSight([x, y])) continue;
    fields += `M${x * size} ${y * size}h${size}v${size}h${-size}z`;
    if (size < kNumberedField) continue;
    const middle = { x: (x + 0.5) * size, y: (y + 0.5) * size };
    numbers.push(svgNode("text", middle, String(number)));
  }
  let lines = "";
  for (let i = 1; size > 4 && i < height; ++i) lines += `M0 ${i * size}H${w}`;
  for (let i = 1; size > 4 && i < width; ++i) lines += `M${i * size} 0V${h}`;
  const across = { class: "axis", x: w / 2, y: -label / 2 };
  const turned = `rotate(-90 ${-label / 2} ${h / 2})`;
  const down = { class: "axis", x: -label / 2, y: h / 2, transform: turned };
  picture.append(svgNode("text", across, `${columns.array.name} →`),
                 svgNode("text", down, `← ${rows.array.name}`),
                 svgNode("path", { class: "done", d: fields }),
                 svgNode("path", { class: "lines", d: lines }),
                 svgNode("rect", { class: "frame", width: w, height: h }), ...numbers);
  if (current && isInSight(place(current.pair))) {
    const [x, y] = place(current.pair);
    const kind = current.isNow ? "now-here" : "last-here";
    picture.append(svgNode("rect", {
      class: kind, x: x * size, y: y * size, width: size, height: size,
    }));
  }
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left - label - 2) / size) + column0;
    const y = Math.floor((event.clientY - box.top - label - 2) / size) + row0;
    const met = x >= 0 && y >= 0 && x < columns.count && grid.first.get(y * columns.count + x);
    if (met) goTo(met.at);
  });
  const drawn = [[rows, row0, height], [columns, column0, width]]
    .filter(([strip, , count]) => count < strip.count)
    .map(([strip, first, count]) => `tiles ${first} to ${first + count - 1} of ${strip.array.name}`);
  return drawn.length ? [picture, node("p", "note", `Drawn: ${drawn.join(", ")}`)] : [picture];
}
