// Numbers, names and elements as the page shows them. Text of a trace becomes text nodes, never
// markup; the page's content security policy insists on it.
"use strict";

const byId = (id) => document.getElementById(id);

function node(tag, classes = "", ...children) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  element.append(...children);
  return element;
}

/** A formula as nodes that break after a sign, not inside of a name. */
function breakable(text) {
  const [first, ...rest] = text.split(/(?<=[·*+/(,^−])/);
  return [first, ...rest.flatMap((part) => [document.createElement("wbr"), part])];
}

function header(scope, text) {
  return Object.assign(node("th", "", text), { scope });
}

const kTextRows = 2;  // of a tile, in a line of text
const kTextColumns = 4;

/** A tile is a list of rows. */
const isTile = (value) => Array.isArray(value) && value.every(Array.isArray);
const shapeText = (tile) => `${tile.length} × ${tile[0]?.length ?? 0}`;

/** `2 × 3 [0.5 1 2; 0 0.25 1]`: the first rows and columns. */
function tileText(tile, precision) {
  const cut = (list, most, separator, text) =>
    list.slice(0, most).map(text).join(separator) + (list.length > most ? `${separator}…` : "");
  const row = (numbers) => cut(numbers, kTextColumns, " ", (v) => numberText(v, precision));
  return `${shapeText(tile)} [${cut(tile, kTextRows, "; ", row)}]`;
}

function numberText(value, precision = 6) {
  if (value === null || value === undefined) return "—";
  if (isTile(value)) return tileText(value, precision);
  if (typeof value !== "number") return String(value).replace("-inf", "−∞");
  const size = Math.abs(value);
  const short = Number(value.toPrecision(precision));
  const isWhole = Number.isInteger(value) && size < 1e15;
  const digits = isWhole ? value : size < 1e-3 ? short.toExponential() : short;
  return String(digits).replaceAll("-", "−");
}

const grouped = (count) => Number(count).toLocaleString("en").replaceAll(",", "\u202f");
const bracketed = (index) => index.map((i) => `[${i}]`).join("");

function shownText(held, showSymbols, precision) {
  return showSymbols && held.symbol ? held.symbol : numberText(held.value, precision);
}

/** `c₀₀ = 0.25`, for tooltips. */
function fullText(held) {
  const value = isTile(held.value) ? numberText(held.value) : String(held.value);
  if (held.tile) return `${value}, of ${held.tile}`;
  return held.symbol ? `${held.symbol} = ${value}` : value;
}

/** The first of `size` things in sight around `focus`. It moves by half windows, not every step. */
function windowStart(focus, size, total) {
  const half = Math.max(1, Math.floor(size / 2));
  return Math.max(0, Math.min(Math.floor((focus - half / 2) / half) * half, total - size));
}
