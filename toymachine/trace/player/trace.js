// A trace, asked by position. What a position shows is a function of the position alone: for every
// register, cell and counter there is the sorted list of the positions at which it changed, and a
// position is looked up in it. So any step is shown at once, from either side, twice the same.
//
// Position 0 is before the first step; position p is the state after the p-th step of the trace.
"use strict";

const kCachedBlocks = 64;
const kUnknown = { value: "?", at: 0 };  // something in steps that the trace leaves out

/** How many of the sorted numbers are at most `limit`. */
function countUpTo(sorted, limit) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function pushTo(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** The text that stands for a value: a formula, a label, or "S@9" for what step 9 put into S. */
function symbolOf(json) {
  if (json.held_unicode !== undefined) return json.held_unicode;
  const symbol = json.symbol_unicode ?? json.symbol;
  return /^\w+(\[\d+\])*@\d+$/.test(symbol) ? undefined : symbol;
}

class Trace {
  constructor() {
    const head = document.getElementById("trace-head").textContent;
    const tail = document.getElementById("trace-tail");
    this.whole = tail !== null;  // a trace that was cut off has no tail; its steps can be shown
    this.about = JSON.parse(head + (tail ? tail.textContent : "]}"));
    if (this.about.flashlab !== "trace") throw new Error("this is not a trace");
    if (this.about.version !== 1) throw new Error(`its version is ${this.about.version}, not 1`);
    this.blocks = [...document.getElementsByClassName("trace-steps")];
    this.blockStart = [];        // block -> position before its first step
    this.cache = new Map();      // block -> its steps
    this.numbers = [0];          // position -> number of the step
    this.unreadable = 0;         // lines that are not JSON
    this.registerWrites = [];    // register -> positions
    this.registerNames = [];     // register -> {at, names}: by a label, or when a prime went
    this.labels = new Map();     // position -> labels given after it
    this.gaps = [];              // places where steps were left out: 3.5 is between 3 and 4
    this.afterGap = [];          // gap -> register -> what it holds, as far as the trace says so
    this.lines = new Map();      // line -> positions
    this.passStart = new Map();  // pass -> its first position
    this.tallies = new Map();    // pass and instruction -> {pass, op, kind, at, cycles: sums}
    this.meetings = new Meetings();
    this.cells = new Map();      // first element of a tile in DRAM -> {at, writes}
    this.arrays = (this.about.arrays || []).map(arrayFromJson);
    this.arraysByName = new Map(this.arrays.map((array) => [array.name, array]));
  }

  get last() { return this.numbers.length - 1; }

  /** "Q[0]", where the program names its registers. */
  registerName(number) { return this.about.register_names?.[number] ?? `R${number}`; }

  /** Reads every block once; gives the browser time to breathe and to show how far it is. */
  async read(onProgress) {
    let pause = performance.now() + 50;
    for (let block = 0; block < this.blocks.length; ++block) {
      this.blockStart.push(this.last);
      for (const entry of this.parse(block)) {
        if (entry.label) this.addLabel(entry);
        else if (entry.step !== undefined) this.addStep(entry);
        else this.addGap(entry);
      }
      if (performance.now() > pause) {
        onProgress(block / this.blocks.length);
        await new Promise((resolve) => setTimeout(resolve));
        pause = performance.now() + 50;
      }
    }
  }

  parse(block) {
    const entries = [];
    for (const line of this.blocks[block].textContent.split("\n")) {
      if (!line) continue;
      try {
        entries.push(JSON.parse(line));
      } catch {
        ++this.unreadable;
      }
    }
    return entries;
  }

  addStep(step) {
    const number = Number(step.step);
    const follows = number === this.numbers[this.last] + 1;
    if (!follows && this.gaps.at(-1) !== this.last + 0.5) this.addGap({});
    const position = this.numbers.push(number) - 1;
    const writes = step.writes || {};
    const pass = step.pass ?? 0;
    pushTo(this.lines, step.line, position);
    if (!this.passStart.has(pass)) this.passStart.set(pass, position);
    const tally = this.tally(step, pass, writes);
    tally.at.push(position);
    if (step.cycles !== undefined) {
      (tally.cycles ??= []).push((tally.cycles?.at(-1) ?? 0) + Number(step.cycles));
    }
    const { register } = writes;
    if (register !== undefined) (this.registerWrites[register] ??= []).push(position);
    this.rename((step.renamed || []).filter((name) => name.register !== register));
    for (const { array, index } of step.reads || []) this.touch(array, index, position);
    if (step.meets) this.meetings.add(this, step, position);
    if (writes.array === undefined) return;
    const element = this.touch(writes.array, writes.index, position);
    const history = this.cells.get(element) || { at: [], writes: [] };
    history.at.push(position);
    const value = isTile(writes.value) ? writes.value.flat() : writes.value;
    history.writes.push({ value, symbol: symbolOf(writes) });
    this.cells.set(element, history);
  }

  tally(step, pass, writes) {
    const key = `${pass} ${step.op}`;
    if (!this.tallies.has(key)) {
      const writesCell = writes.array !== undefined;
      const kind = step.reads?.length > 0
        ? (writesCell ? "atomics" : "loads") : (writesCell ? "stores" : "compute");
      this.hasAtomics ||= kind === "atomics";
      this.tallies.set(key, { pass, op: step.op, kind, at: [] });
    }
    return this.tallies.get(key);
  }

  addLabel(label) {
    pushTo(this.labels, this.last, label);
    this.rename([label, ...(label.renamed || [])]);
  }

  /** From this position on these registers show another symbol, though nothing wrote them. */
  rename(names) {
    for (const name of names) {
      const history = (this.registerNames[name.register] ??= { at: [], names: [] });
      history.at.push(this.last);
      history.names.push(symbolOf(name));
    }
  }

  /** Steps were left out here. Between two positions, so half a one. */
  addGap(entry) {
    const at = this.last + 0.5;
    const known = new Map();
    for (const json of entry.registers || []) {
      known.set(json.register, { value: json.value ?? "?", symbol: symbolOf(json), at });
    }
    this.gaps.push(at);
    this.afterGap.push(known);
    this.registerNames.forEach((history, register) => {
      history.at.push(at);
      history.names.push(known.get(register)?.symbol);
    });
  }

  /** The last gap before a position if it comes after a write; -1: it does not. */
  gapSince(write, position) {
    const gap = countUpTo(this.gaps, position) - 1;
    return gap >= 0 && this.gaps[gap] > write ? gap : -1;
  }

  touch(name, index, position) {
    const array = this.arraysByName.get(name);
    if (!array) return -1;
    const element = elementOf(array, index);
    array.touched.at.push(position);
    array.touched.elements.push(element);
    return array.offset + element;
  }

  /** The step that leads to a position; null for 0. */
  step(position) {
    if (position < 1) return null;
    const block = countUpTo(this.blockStart, position - 1) - 1;
    if (!this.cache.has(block)) {
      if (this.cache.size >= kCachedBlocks) this.cache.delete(this.cache.keys().next().value);
      this.cache.set(block, this.parse(block).filter((entry) => entry.step !== undefined));
    }
    return this.cache.get(block)[position - this.blockStart[block] - 1];
  }

  /** "S = q₀₀·k₀₀ᵀ": what a step makes, from what. */
  makesOf(step) {
    const { writes } = step;
    const makes = step.makes_unicode ?? step.makes;
    if (makes !== undefined || writes?.register === undefined) return makes;
    const symbol = symbolOf(writes);
    return symbol && `${this.registerName(writes.register)} = ${symbol}`;
  }

  /** The same without the register. */
  madeOf(step) {
    const makes = this.makesOf(step);
    const at = makes ? makes.indexOf(" = ") : -1;
    return at < 0 ? undefined : makes.slice(at + 3);
  }

  /** The position of a step's number, if the trace has that step. */
  positionOf(number) {
    const position = countUpTo(this.numbers, number) - 1;
    return position > 0 && this.numbers[position] === number ? position : undefined;
  }

  /**
   * What a register holds after a position: null, or {value, symbol, at: where it was written,
   * made: from what, isRenamed: since then, origin: of which tile}.
   */
  register(number, position) {
    const writes = this.registerWrites[number] || [];
    const count = countUpTo(writes, position);
    const at = count > 0 ? writes[count - 1] : 0;
    const gap = this.gapSince(at, position);
    let held;
    if (gap >= 0) {
      held = { ...kUnknown, at: this.gaps[gap], ...this.afterGap[gap].get(number) };
    } else if (count > 0) {
      const step = this.step(at);
      const { writes, reads } = step;
      const origin = writes.of ?? (reads?.length ? { tile: reads[0] } : undefined);
      held = { value: writes.value, symbol: symbolOf(writes), at, made: this.madeOf(step), origin };
    } else {
      return null;
    }
    const renamed = this.registerNames[number];
    const names = renamed ? countUpTo(renamed.at, position) : 0;
    if (names > 0 && renamed.at[names - 1] >= held.at) {
      held.symbol = renamed.names[names - 1];
      // The names in what made it may mean something else by now.
      held.isRenamed = renamed.at[names - 1] > held.at;
    }
    return held;
  }

  /** What a cell holds after a position: null when nobody has written it. */
  cell(array, element, position) {
    const { start, place } = tileOf(array, element);
    const history = this.cells.get(array.offset + start);
    const count = history ? countUpTo(history.at, position) : 0;
    const at = count > 0 ? history.at[count - 1] : 0;
    if (array.role !== "input" && this.gapSince(at, position) >= 0) return kUnknown;
    if (count > 0) {
      const write = history.writes[count - 1];
      if (!Array.isArray(write.value)) return write;
      return { value: write.value[place], tile: write.symbol };  // the symbol is the whole tile's
    }
    const value = array.initial[element];
    return value === null || value === undefined ? null : { value };
  }

  /** The element of an array that a step up to this position touched last: where its window is. */
  focus(array, position) {
    const count = countUpTo(array.touched.at, position);
    return count ? array.touched.elements[count - 1] : 0;
  }

  cyclesOf(op) {
    const costs = this.about.costs || {};
    return Object.hasOwn(costs, op) ? Number(costs[op]) : 1;
  }

  /** Sums over the tallies that `filter` lets through. */
  counts(position, filter = () => true) {
    const sums = { steps: 0, cycles: 0, loads: 0, stores: 0, atomics: 0, compute: 0 };
    sums.ops = new Map();
    for (const tally of this.tallies.values()) {
      if (!filter(tally)) continue;
      const count = countUpTo(tally.at, position);
      sums.steps += count;
      const worked = tally.cycles?.[count - 1] ?? 0;  // where cycles depend on the step
      sums.cycles += tally.cycles ? worked : count * this.cyclesOf(tally.op);
      sums[tally.kind] += count;
      sums.ops.set(tally.op, (sums.ops.get(tally.op) || 0) + count);
    }
    return sums;
  }
}

function arrayFromJson(json) {
  const shape = json.shape.length ? json.shape : [1];
  const tile = shape.map((extent, axis) => Math.min(json.tile?.[axis] ?? 1, extent) || 1);
  return {
    name: json.name,
    role: json.role,
    shape,
    tile,  // its elements along each axis
    isTiled: tile.some((length) => length > 1),
    offset: json.offset,
    initial: json.initial || [],
    size: shape.reduce((product, extent) => product * extent, 1),
    touched: { at: [], elements: [] },
  };
}

/** The first element of the tile with this index; without tiles, the element itself. */
function elementOf(array, index) {
  return index.reduce((sum, i, axis) => sum * array.shape[axis] + i * array.tile[axis], 0);
}

function indexOf(array, element) {
  const index = [];
  for (let axis = array.shape.length - 1; axis >= 0; --axis) {
    index.unshift(element % array.shape[axis]);
    element = Math.floor(element / array.shape[axis]);
  }
  return index;
}

/** The tile of an element: the element it starts with, and the place in it, row by row. */
function tileOf(array, element) {
  if (!array.isTiled) return { start: element, place: 0 };
  const tile = { start: 0, place: 0 };
  indexOf(array, element).forEach((i, axis) => {
    const inside = i % array.tile[axis];
    const length = Math.min(array.tile[axis], array.shape[axis] - (i - inside));
    tile.start = tile.start * array.shape[axis] + (i - inside);
    tile.place = tile.place * length + inside;
  });
  return tile;
}
