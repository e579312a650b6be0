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

function header(scope, text) {
  return Object.assign(node("th", "", text), { scope });
}

function numberText(value, precision = 6) {
  if (value === null || value === undefined) return "—";
  if (Array.isArray(value)) return `[${value.map((v) => numberText(v, precision)).join(", ")}]`;
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
const fullText = (held) => (held.symbol ? `${held.symbol} = ${held.value}` : String(held.value));

/** The first of `size` things in sight around `focus`. It moves by half windows, not every step. */
function windowStart(focus, size, total) {
  const half = Math.max(1, Math.floor(size / 2));
  return Math.max(0, Math.min(Math.floor((focus - half / 2) / half) * half, total - size));
}
