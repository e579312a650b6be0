// The page's panels, each drawn from nothing for a view: {trace, position, step, showSymbols}.
"use strict";

const kProgramWindow = 600;  // lines of the program in the page at once

// ---- This step

function whereText({ trace, position }) {
  const number = (p) => grouped(trace.numbers[p] ?? 0);
  const place = position === 0 ? `Before step ${number(1)}` : `Step ${number(position)}`;
  return `${place} of ${number(trace.last)}`;
}

/** What the step did: {target: "R2", rest: " = c₀₀ = a₀₀·b₀₀ + a₀₁·b₁₀", value: " = 0.25"}. */
function effectOf({ trace, step }) {
  const write = step?.writes;
  if (!write) return null;
  const makes = step.makes_unicode ?? step.makes;
  const isCell = write.array !== undefined;
  const target = isCell ? write.array + bracketed(write.index) : trace.registerName(write.register);
  const computed = write.expression_unicode ?? write.expression;
  const texts = makes ? [makes.split(" = ")[0], trace.madeOf(step)] : [target, symbolOf(write), computed];
  const [head, ...rest] = [...new Set(texts.filter(Boolean))];
  const value = numberText(write.value);
  const last = rest.join(" = ").split(" = ").at(-1);
  const isValue = last.replace("-inf", "−∞").replaceAll("-", "−") === value;
  const equals = (text) => ` = ${text}`;
  return { target: head, rest: rest.map(equals).join(""), value: isValue ? "" : equals(value) };
}

/** The names like "S@9" in a text, each once. */
const namesIn = (text) => [...new Set(text.match(/[A-Za-z_]\w*(\[\d+\])*@\d+/g) || [])];

/** "what step 9 put into S", and if the step is there, from what. */
function nameText(trace, name) {
  const [target, number] = name.split("@");
  const position = trace.positionOf(Number(number));
  const made = position && trace.madeOf(trace.step(position));
  const from = made && made !== name ? `: ${made}` : "";
  return `${name} is what step ${number} put into ${target}${from}`;
}

function nameNode(trace, name, goTo) {
  const position = trace.positionOf(Number(name.split("@")[1]));
  if (position === undefined) return node("li", "", nameText(trace, name));
  const button = node("button", "", name);
  button.type = "button";
  button.title = "Go to that step";
  button.addEventListener("click", () => goTo(position));
  return node("li", "", button, nameText(trace, name).slice(name.length));
}

function labelTexts({ trace, position }) {
  return (trace.labels.get(position) || []).map((label) => {
    const name = `${trace.registerName(label.register)} is now called ${symbolOf(label)}`;
    const good = { kind: "good", text: `✓ ${name}: its claim was checked and holds` };
    const bad = { kind: "bad", text: `✗ ${name}: its claim does not hold` };
    return label.claim === true ? good : label.claim === false ? bad : { kind: "", text: name };
  });
}

/** What a screen reader says. */
function narration(view) {
  const { step } = view;
  const effect = effectOf(view);
  const did = step ? `, line ${step.line}: ${step.instruction}` : "";
  const parts = [`${whereText(view)}${did}.`];
  if (effect) parts.push(`${effect.target}${effect.rest}${effect.value}.`);
  for (const { text } of labelTexts(view)) parts.push(`${text.replace(/^[✓✗] /, "")}.`);
  return parts.join(" ");
}

function startText({ gaps }) {
  return gaps[0] < 1 ? "Earlier steps are left out" : "Nothing has run yet";
}

function drawNow(view, goTo) {
  const { trace, step } = view;
  const chips = [];
  if (step) {
    chips.push(`line ${step.line}`, trace.about.passes?.[step.pass] || "");
    for (const [name, value] of Object.entries(step.loops || {})) chips.push(`${name} = ${value}`);
  }
  const effect = effectOf(view);
  byId("where").textContent = whereText(view);
  byId("loops").replaceChildren(...chips.filter(Boolean).map((text) => node("li", "", text)));
  byId("instruction").textContent = step ? step.instruction : startText(trace);
  byId("effect").replaceChildren();
  if (effect) {
    const value = node("span", "value", effect.value);
    byId("effect").append(node("b", "", effect.target), ...breakable(effect.rest), value);
  }
  const names = namesIn(effect?.rest ?? "").map((name) => nameNode(trace, name, goTo));
  byId("names").replaceChildren(...names);
  const labels = labelTexts(view).map(({ kind, text }) => node("li", kind, text));
  byId("claims").replaceChildren(...labels);
}

// ---- Program

function drawProgram({ trace, position, step }) {
  const lines = trace.about.source || [];
  const current = step ? step.line : 0;
  const next = step ? 0 : trace.step(1)?.line ?? 0;  // before the first step, the line that comes
  const first = windowStart(Math.max(0, (current || next) - 1), kProgramWindow, lines.length);
  const list = byId("program");
  if (!list.firstChild || Number(list.firstChild.dataset.line) !== first + 1) {
    const inSight = lines.slice(first, first + kProgramWindow);
    list.replaceChildren(...inSight.map((text, i) => programLine(text, first + i + 1)));
  }
  for (const line of list.children) {
    const number = Number(line.dataset.line);
    const count = countUpTo(trace.lines.get(number) || [], position);
    line.children[1].textContent = count ? `×${grouped(count)}` : "";
    if (number === current) line.setAttribute("aria-current", "step");
    else line.removeAttribute("aria-current");
    line.classList.toggle("next", number === next);
  }
  const box = list.parentElement;  // it scrolls, never the page
  const line = list.querySelector("[aria-current], .next");
  const top = line ? line.offsetTop - list.offsetTop : 0;
  const margin = box.clientHeight / 4;
  const below = top - box.scrollTop;
  const isInSight = below >= margin && below <= box.clientHeight - margin;
  if (!isInSight) box.scrollTop = top - box.clientHeight / 2;
}

function programLine(text, number) {
  const comment = text.search(/[;#]/);
  const code = comment < 0 ? text : text.slice(0, comment);
  const [, space, word, rest] = /^(\s*)(\S*)([^]*)$/.exec(code);
  const source = node("span", "source", space);
  source.append(node("span", word.startsWith(".") ? "directive" : "word", word), rest.trimEnd());
  if (comment >= 0) {
    const gap = node("span", "gap", rest.slice(rest.trimEnd().length));
    source.append(gap, node("span", "comment", text.slice(comment)));
  }
  const line = node("li", "", node("span", "number", String(number)), node("span", "count"));
  line.append(source);
  line.dataset.line = number;
  return line;
}

// ---- Counters

function countRow(kind, name, ...counts) {
  const cells = counts.map((count) => node("td", "", grouped(count || 0)));
  return node("tr", kind, header("row", name), ...cells);
}

function drawCounters({ trace, position }) {
  const now = trace.counts(position);
  const total = trace.counts(trace.last);
  const rows = [...total.ops].map(([op, count]) => countRow("op", op, now.ops.get(op), count));
  const sums = {
    loads: "Loads", stores: "Stores", atomics: "Atomics", compute: "Compute", cycles: "Cycles",
  };
  for (const [key, name] of Object.entries(sums)) {
    if (key === "atomics" && !trace.hasAtomics) continue;
    rows.push(countRow("sum", name, now[key], total[key]));
  }
  byId("counters").tBodies[0].replaceChildren(...rows);
}

function drawPasses({ trace, position, step }, goTo) {
  const rows = [...trace.passStart].map(([pass, start]) => {
    const counts = trace.counts(position, (tally) => tally.pass === pass);
    const atomics = trace.hasAtomics ? [counts.atomics] : [];
    const traffic = [counts.loads, counts.stores, ...atomics];
    const row = countRow("", "", ...traffic, counts.compute, counts.cycles);
    const button = node("button", "", trace.about.passes?.[pass] || "Before the first pass");
    button.type = "button";
    button.title = `Go to its first step, ${trace.numbers[start]}`;
    button.addEventListener("click", () => goTo(start));
    row.firstChild.append(button);
    if (step && (step.pass ?? 0) === pass) row.setAttribute("aria-current", "true");
    return row;
  });
  const body = byId("passes").tBodies[0];
  const focused = [...body.rows].findIndex((row) => row.contains(document.activeElement));
  body.replaceChildren(...rows);
  if (focused >= 0) body.rows[focused].querySelector("button").focus();
}
