// The panels of the machine: its registers and its DRAM, cell by cell, tile by tile.
"use strict";

const kRegisterWindow = 256;
const kCellWindow = 48;      // cells of an array with one axis
const kCellDigits = 4;       // the whole number is in the tooltip
const kGridRows = 12;
const kGridColumns = 8;
const kTileRows = 8;         // a register's tile is shown whole up to here
const kTileColumns = 8;
const kTileCorner = 3;       // of a larger one: the first rows and columns
const kTileDigits = 3;

// ---- Registers

function drawRegisters(view) {
  const count = view.trace.about.num_registers;
  const written = view.step?.writes?.register;
  const read = new Set(view.step?.register_reads || []);
  const first = windowStart(written ?? 0, kRegisterWindow, count);
  const end = Math.min(count, first + kRegisterWindow);
  const cards = [];
  for (let r = first; r < end; ++r) {
    const tags = [read.has(r) && "read", r === written && "written"].filter(Boolean);
    cards.push(registerCard(view, r, tags));
  }
  byId("registers").replaceChildren(...cards);
  const inSight = `${view.trace.registerName(first)} to ${view.trace.registerName(end - 1)}`;
  byId("registers-note").textContent =
    end - first < count ? `${inSight} of ${grouped(count)} registers` : "";
}

function registerCard({ trace, position, showSymbols }, number, tags) {
  const held = trace.register(number, position);
  const card = node("li", ["register", ...tags, held ? "" : "unwritten"].join(" "));
  const name = node("span", "name", trace.registerName(number));
  const head = node("header", "", name, node("span", "tag", tags.join(", ")));
  card.append(head);
  if (isTile(held?.value)) {
    const columns = shownOf(held.value[0]?.length ?? 0, kTileColumns);
    if (columns > 2) card.classList.add(columns > 5 ? "whole" : "wide");
    name.after(node("span", "shape", shapeText(held.value)));
    if (showSymbols && held.symbol) {
      card.append(node("span", "big", ...breakable(held.symbol)), madeNode(trace, held));
    }
    const place = placeOf(trace, held.origin);
    const part = place ? [node("p", "part", placeMap(place), node("span", "", place.text))] : [];
    card.append(...part, tileTable(held.value));
    if (!showSymbols && held.symbol) card.append(node("span", "small", ...breakable(held.symbol)));
  } else {
    card.append(node("span", "big", ...breakable(held ? shownText(held, showSymbols) : "empty")));
    if (showSymbols && held) card.append(madeNode(trace, held));
    card.append(node("span", "small", held?.symbol ? shownText(held, !showSymbols) : ""));
  }
  const names = [...new Set([trace.registerName(number), `R${number}`])].join(", ");
  const since = held && trace.numbers[held.at];  // nothing after a gap
  if (held) card.title = `${names} = ${fullText(held)}${since ? `, since step ${since}` : ""}`;
  return card;
}

/** From what the value was made, where a name stands for it. */
function madeNode({ numbers }, { symbol, made, at, isRenamed }) {
  if (!made || made === symbol) return "";
  const rest = made.startsWith(`${symbol} = `) ? made.slice(symbol.length + 3) : made;
  const text = isRenamed ? `step ${numbers[at]}: ${rest}` : `= ${rest}`;
  return node("span", "made", ...breakable(text));
}

/** How many rows or columns of a tile are shown. */
const shownOf = (length, most) => (length <= most ? length : kTileCorner);

/** A tile's elements: all of a small one, the first rows and columns of a large one. */
function tileTable(tile) {
  const columns = tile[0]?.length ?? 0;
  const shownRows = shownOf(tile.length, kTileRows);
  const shownColumns = shownOf(columns, kTileColumns);
  const rows = tile.slice(0, shownRows).map((numbers) => {
    const cells = numbers.slice(0, shownColumns).map((v) => numberText(v, kTileDigits));
    if (shownColumns < columns) cells.push("…");
    return node("tr", "", ...cells.map((text) => node("td", "", text)));
  });
  if (shownRows < tile.length) rows.push(node("tr", "", node("td", "", "⋮")));
  return node("div", "tile", node("table", "", node("tbody", "", ...rows)));
}

// ---- DRAM

function drawMemory(view) {
  const { trace, step } = view;
  const marks = new Map();  // "array element" -> classes; the first element of a tile
  const mark = ({ array: name, index }, kind) => {
    const array = trace.arraysByName.get(name);
    if (!array) return;
    const key = `${name} ${elementOf(array, index)}`;
    marks.set(key, [...(marks.get(key) || []), kind]);
  };
  for (const cell of step?.reads || []) mark(cell, "read");
  if (step?.writes?.array !== undefined) mark(step.writes, "written");
  const memory = byId("memory");
  const scrolled = [...memory.querySelectorAll(".grid")].map((grid) => grid.scrollLeft);
  memory.classList.toggle("symbols", view.showSymbols);
  memory.replaceChildren(...trace.arrays.map((array) => arrayFigure(view, array, marks)));
  memory.querySelectorAll(".grid").forEach((grid, i) => {
    grid.scrollLeft = scrolled[i] || 0;
    const cell = grid.querySelector(".read, .written");
    if (cell) scrollSideways(grid, cell);
  });
}

/** Brings a cell into sight, within the box only. */
function scrollSideways(box, cell) {
  const sight = box.getBoundingClientRect();
  const place = cell.getBoundingClientRect();
  if (place.left < sight.left) box.scrollLeft -= sight.left - place.left;
  if (place.right > sight.right) box.scrollLeft += place.right - sight.right;
}

function arrayFigure(view, array, marks) {
  const roles = { input: "input", output: "output", temp: "scratch" };
  const shape = array.shape.map(grouped).join(" × ");
  const tile = array.tile.slice(-2).map(grouped).join(" × ");
  const tiles = array.isTiled ? ` in tiles of ${tile}` : "";
  const about = `  ${shape}${tiles}, ${roles[array.role] || array.role}`;
  const caption = node("figcaption", "", node("b", "", array.name), about);
  const make = array.shape.length === 1 ? cellList : cellGrid;
  return node("figure", "", caption, make(view, array, marks, caption));
}

function cellNode(tag, { trace, position, showSymbols }, array, element, marks) {
  const held = trace.cell(array, element, position);
  const mark = marks.get(`${array.name} ${tileOf(array, element).start}`) || [];
  const text = held ? shownText(held, showSymbols, kCellDigits) : "·";
  const cell = node(tag, `cell ${mark.join(" ") || (held ? "" : "unwritten")}`, text);
  const state = [...mark, held ? "" : "not written yet"].filter(Boolean).join(", ");
  if (state) cell.append(node("span", "hidden", ` ${state}`));
  if (held) cell.title = `${array.name}${bracketed(indexOf(array, element))} = ${fullText(held)}`;
  return cell;
}

function cellList(view, array, marks, caption) {
  const first = windowStart(view.trace.focus(array, view.position), kCellWindow, array.size);
  const end = Math.min(array.size, first + kCellWindow);
  if (end - first < array.size) caption.append(`, cells ${grouped(first)} to ${grouped(end - 1)}`);
  const list = node("ol", "cells");
  for (let element = first; element < end; ++element) {
    const cell = cellNode("li", view, array, element, marks);
    cell.prepend(node("span", "index", String(element)));
    list.append(cell);
  }
  return list;
}

/** Two axes as they are; of more, the leading ones together make the rows. */
function cellGrid(view, array, marks, caption) {
  const columns = array.shape[array.shape.length - 1];
  const rows = columns ? array.size / columns : 0;
  const focus = view.trace.focus(array, view.position);
  const row0 = windowStart(columns ? Math.floor(focus / columns) : 0, kGridRows, rows);
  const column0 = windowStart(columns ? focus % columns : 0, kGridColumns, columns);
  const rowEnd = Math.min(rows, row0 + kGridRows);
  const columnEnd = Math.min(columns, column0 + kGridColumns);
  if ((rowEnd - row0) * (columnEnd - column0) < array.size) {
    caption.append(`, rows ${grouped(row0)} to ${grouped(rowEnd - 1)}`);
    caption.append(`, columns ${grouped(column0)} to ${grouped(columnEnd - 1)}`);
  }
  const [tileRows, tileColumns] = array.tile.slice(-2);
  const beginsTile = (i, first, length) => length > 1 && i > first && i % length === 0;
  const gap = () => node("td", "gap");
  const head = node("tr", "", node("td"));
  for (let c = column0; c < columnEnd; ++c) {
    if (beginsTile(c, column0, tileColumns)) head.append(gap());
    head.append(header("col", String(c)));
  }
  const body = node("tbody");
  for (let r = row0; r < rowEnd; ++r) {
    const index = indexOf(array, r * columns).slice(0, -1);
    const row = node("tr", "", header("row", index.join(", ")));
    for (let c = column0; c < columnEnd; ++c) {
      if (beginsTile(c, column0, tileColumns)) row.append(gap());
      row.append(cellNode("td", view, array, r * columns + c, marks));
    }
    if (r > row0 && beginsTile(index.at(-1), 0, tileRows)) body.append(node("tr", "gap"));
    body.append(row);
  }
  const title = node("caption", "hidden", array.name);
  const table = node("table", "", title, node("thead", "", head), body);
  return node("div", array.isTiled ? "grid tiled" : "grid", table);
}
