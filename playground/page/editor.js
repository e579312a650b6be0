// The editor: a text field over coloured lines, with errors underlined and costs at the ends of lines.
"use strict";

/// Columns count bytes; the page counts UTF-16 units.
function inCharacters({column, length}, line) {
  const bytes = new TextEncoder().encode(line);
  const units = (from, to) => new TextDecoder().decode(bytes.slice(from, to)).length;
  const start = (column || 1) - 1;
  return {column: units(0, start) + 1, length: units(start, start + (length || 1))};
}

class Editor {
  /// `mnemonics`: names of instructions. `changed` is called after each change of the text.
  constructor(root, mnemonics, changed) {
    this.field = root.querySelector("textarea");
    this.lines = root.querySelector(".coloured");
    this.problems = root.parentElement.querySelector(".problems");
    this.mnemonics = new Set(mnemonics);
    this.diagnostics = [];
    this.hints = new Map();
    this.field.addEventListener("input", () => {
      this.diagnostics = [];
      this.draw();
      changed();
    });
    this.field.addEventListener("scroll", () => this.align());
    this.field.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.align()).observe(this.field);
  }

  get text() { return this.field.value; }
  set text(text) {
    this.field.value = text;
    this.diagnostics = [];
    this.hints.clear();
    this.draw();
  }

  set readOnly(value) { this.field.readOnly = value; }

  /// Shows what a "document" request answered.
  show({diagnostics, hints}) {
    const lines = this.text.split("\n");
    this.diagnostics = diagnostics.map((one) => one.line ? {...one, ...inCharacters(one, lines[one.line - 1] || "")} : one);
    this.hints = new Map(hints.map(({line, text}) => [line, text]));
    this.draw();
  }

  /// Tab moves the focus, as on every page. Enter keeps the indentation.
  key(event) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
    const before = this.text.slice(0, this.field.selectionStart);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    const indent = /^ */.exec(line)[0] + (/^\s*for\b/.test(line) ? "  " : "");
    if (indent === "") return;
    event.preventDefault();
    document.execCommand("insertText", false, "\n" + indent);
  }

  align() {
    this.lines.style.transform = `translate(${-this.field.scrollLeft}px, ${-this.field.scrollTop}px)`;
  }

  draw() {
    const wrong = new Map();
    for (const one of this.diagnostics) if (one.line) wrong.set(one.line, [...(wrong.get(one.line) || []), one]);
    const lines = this.text.split("\n");
    this.lines.replaceChildren(...lines.map((line, index) => {
      const number = index + 1;
      const row = element("div", {class: "line" + (wrong.has(number) ? " wrong" : ""), "data-line": number},
                          ...this.words(line, wrong.get(number) || []));
      if (this.hints.has(number)) row.append(element("span", {class: "hint"}, this.hints.get(number)));
      return row;
    }));
    this.problems.replaceChildren(...this.diagnostics.map((one) => element("li", {class: one.severity},
      element("button", {type: "button", class: "plain", onclick: () => this.goTo(one)},
              one.line ? `Line ${one.line}` : "Program"),
      " " + one.what + (one.expected ? `; expected ${one.expected}` : "") +
      (one.suggestion ? `; did you mean ${one.suggestion}?` : ""))));
    this.align();
  }

  goTo({line, column}) {
    if (!line) return;
    const lines = this.text.split("\n");
    const at = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + (column || 1) - 1;
    this.field.focus();
    this.field.setSelectionRange(at, at);
    this.field.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(this.field).lineHeight));
  }

  /// Returns a line as coloured words, the wrong ones underlined.
  words(line, wrong) {
    const marks = wrong.map((one) => [(one.column || 1) - 1, (one.column || 1) - 1 + Math.max(1, one.length || 1)]);
    const nodes = [];
    for (const {0: word, index} of line.matchAll(/[;#].*|\.?[A-Za-z_]\w*|\d+(?:\.\d+)?|\s+|./gu)) {
      const kind = /^[;#]/.test(word) ? "comment"
        : /^\./.test(word) && word.length > 1 ? "directive"
        : /^(for|in|end|step|min|max|tiles|ceildiv|float|double|bf16|fp16|tile|any|pinned|constants)$/.test(word) ? "keyword"
        : this.mnemonics.has(word.toUpperCase()) ? "mnemonic"
        : /^[Rr]\d+$/.test(word) ? "register"
        : /^\d/.test(word) ? "number" : "";
      const under = marks.some(([from, to]) => index < to && index + word.length > from);
      nodes.push(kind || under ? element("span", {class: (kind + (under ? " under" : "")).trim()}, word) : word);
    }
    return nodes.length > 0 ? nodes : ["\u200b"];
  }
}
