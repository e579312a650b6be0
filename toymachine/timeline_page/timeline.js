// The timeline page: one figure of two lanes for each model, over one stretch of cycles in view.
"use strict";

const kSvg = "http://www.w3.org/2000/svg";
const kUnits = ["memory", "compute"];
const kCauses = { busy : "busy", data : "waits for data", buffer : "waits for a register in use",
  idle : "nothing to do" };
const kGutter = 66;       // px before a lane, for its name
const kLane = 30;         // px
const kLaneGap = 4;
const kLetterRoom = 11;   // px that a letter needs
const kFirstSteps = 30;   // in view at first, one after the other
const kMostBoxes = 900;   // in a lane: beyond, it is drawn by pixels

const byId = (id) => document.getElementById(id);
const grouped = (count) => Number(count).toLocaleString("en").replaceAll(",", "\u202f");

function node(tag, classes = "", ...children) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  element.append(...children);
  return element;
}

function shape(tag, attributes, ...children) {
  const element = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const percent = (part, whole) => (whole > 0 ? `${((100 * part) / whole).toFixed(1)}\u00a0%` : "—");
const modelName = ({ model, buffers }) =>
  model === "serial" ? "Serial" : `Overlap, ${buffers} ${buffers === 1 ? "buffer" : "buffers"}`;

class Page {
  constructor(data) {
    this.data = data;
    this.lanes = [];
    data.models.forEach((model, index) => {
      for (const unit of kUnits) {
        const intervals = model.intervals.filter((interval) => interval.unit === unit)
          .map((interval) => ({ ...interval, start : Number(interval.start),
            end : Number(interval.end) }));
        this.lanes.push({ index, model, unit, intervals });
      }
    });
    const ends = data.models.map((model, index) => model.intervals_left_out
      ? Math.min(...this.lanes.filter((lane) => lane.index === index)
        .map(({ intervals }) => intervals.at(-1)?.end ?? Infinity)) : Number(model.cycles));
    const starts = this.lanes.map(({ intervals }) => intervals[0]?.start ?? Infinity);
    const recorded = this.lanes.map(({ intervals }) => intervals.at(-1)?.end ?? 0);
    this.first = Math.min(...starts, Math.max(...recorded));
    this.last = Math.max(this.first + 1, Math.min(Math.max(...ends), Math.max(...recorded)));
    this.from = this.first;
    this.length = this.firstView();
    this.at = null;  // {lane, index} of the chosen interval
    this.letters();
    this.describe();
    this.listen();
    this.draw();
  }

  /** As many cycles as the first steps take under the first model. */
  firstView() {
    const ends = this.lanes.filter(({ index }) => index === 0)
      .flatMap(({ intervals }) => intervals.filter(({ cause }) => cause === "busy")
        .slice(0, kFirstSteps)).map(({ end }) => end).sort((a, b) => a - b);
    const end = ends[Math.min(kFirstSteps, ends.length) - 1] ?? this.last;
    return Math.min(this.last - this.first, Math.max(4, end - this.first));
  }

  /** As in the terminal, the command gives every instruction its letter. */
  letters() {
    this.letter = new Map(this.data.instructions.map(({ op, letter }) => [op, letter]));
  }

  instruction(interval) { return this.data.instructions[interval.site]; }

  classOf(lane, interval) {
    if (interval.cause !== "busy") return interval.cause;
    if (lane.unit === "compute") return "compute";
    return this.instruction(interval).loads ? "load" : "store";
  }

  // ---- What stands still

  describe() {
    const { data } = this;
    const title = data.title || data.program;
    const params = Object.entries(data.params).map(([name, value]) => `${name} = ${value}`);
    document.title = `${title} · timeline · flashlab`;
    byId("title").textContent = title;
    byId("facts").textContent = [data.program, ...params, `${grouped(data.num_registers)} registers`]
      .join("  ·  ");
    byId("sums").append(...data.models.map((model) => this.sum(model)));
    byId("legend").append(...this.legend());
    for (const [index, model] of data.models.entries()) {
      byId("model").append(Object.assign(node("option", "", modelName(model)), { value : index }));
    }
    byId("model").value = data.models.length - 1;
    const more = data.models.some((model) => model.intervals_left_out > 0);
    byId("lanes-note").textContent = more
      ? `The page holds cycles ${grouped(this.first)} to ${grouped(this.last)}; the command's --from and --to choose others.` : "";
    this.drawLines();
  }

  sum(model) {
    const most = Math.max(...this.data.models.map(({ cycles }) => Number(cycles)), 1);
    const cycles = Number(model.cycles);
    const serial = this.data.models.find((other) => other.model === "serial");
    const faster = serial && serial !== model && cycles > 0
      ? ` ${(Number(serial.cycles) / cycles).toFixed(2)}×` : "";
    const bars = node("div", "bars");
    for (const unit of kUnits) {
      const bar = shape("svg", { viewBox : "0 0 1000 10", preserveAspectRatio : "none",
        "aria-hidden" : "true" }, shape("rect", { class : "track", width : (1000 * cycles) / most,
        height : 10 }));
      let x = 0;
      for (const cause of Object.keys(kCauses)) {
        const width = (1000 * Number(model[unit][cause])) / most;
        const kind = cause === "busy" ? (unit === "memory" ? "load" : "compute") : cause;
        bar.append(shape("rect", { x, width, height : 10, class : kind, "stroke-width" : 0 }));
        x += width;
      }
      const parts = Object.keys(kCauses).filter((cause) => Number(model[unit][cause]) > 0)
        .map((cause) => `${cause} ${percent(Number(model[unit][cause]), cycles)}`);
      bars.append(bar, node("p", "caption", `${unit}: ${parts.join(", ") || "nothing to do"}`));
    }
    return node("li", "", node("b", "", modelName(model)),
      node("p", "cycles", `${grouped(cycles)} cycles`, node("span", "", faster)), bars);
  }

  legend() {
    const used = new Map();
    for (const instruction of this.data.instructions) {
      const names = used.get(instruction.letter) ?? { kind : instruction.unit === "compute"
        ? "compute" : instruction.loads ? "load" : "store", names : new Set() };
      names.names.add(instruction.op);
      used.set(instruction.letter, names);
    }
    const swatch = (kind, letter = "") => {
      const box = shape("rect", { x : 1, y : 1, width : 22, height : 16, class : kind });
      return shape("svg", { viewBox : "0 0 24 18", "aria-hidden" : "true" }, box,
        shape("text", { x : 12, y : 13, "text-anchor" : "middle" }, letter));
    };
    const entries = [...used].map(([letter, { kind, names }]) =>
      node("li", "", swatch(kind, letter), [...names].join(", ")));
    return [...entries, node("li", "", swatch("data"), kCauses.data),
      node("li", "", swatch("buffer"), kCauses.buffer)];
  }

  drawLines() {
    const model = this.data.models[Number(byId("model").value)];
    const site = this.chosen()?.site;
    byId("lines").tBodies[0].replaceChildren(...this.data.instructions.map((instruction) => {
      const cells = ["busy", "data", "buffer"].map((cause) => {
        const cycles = Number(model.by_site[instruction.site][cause]);
        return node("td", "", cycles > 0 ? grouped(cycles) : "–");
      });
      const row = node("tr", "", Object.assign(node("th", "", String(instruction.line)),
        { scope : "row" }), node("td", "code", instruction.text), ...cells);
      if (instruction.site === site) row.setAttribute("aria-current", "true");
      return row;
    }));
  }

  // ---- The lanes

  draw() {
    const width = Math.max(200, byId("lanes").clientWidth);
    this.scale = (width - kGutter - 1) / this.length;
    const figures = this.data.models.map((model, index) => this.figure(model, index, width));
    byId("lanes").replaceChildren(this.patterns(), ...figures);
    const scrubber = byId("scrubber");
    scrubber.min = this.first;
    scrubber.max = Math.max(this.first, this.last - this.length);
    scrubber.disabled = this.length >= this.last - this.first;
    scrubber.value = this.from;
    scrubber.setAttribute("aria-valuetext",
      `cycles ${grouped(this.from)} to ${grouped(this.from + this.length)}`);
    this.tell();
  }

  patterns() {
    const hatch = (id, d) => shape("pattern", { id, width : 6, height : 6,
      patternUnits : "userSpaceOnUse" }, shape("path", { d, "stroke-width" : 1.4, fill : "none" }));
    return shape("svg", { class : "hidden", "aria-hidden" : "true" }, shape("defs", {},
      hatch("hatch-data", "M-1 7 7 -1M-1 1 1 -1M5 7 7 5"), hatch("hatch-buffer", "M0 1.5H6M0 4.5H6")));
  }

  x(cycle) { return kGutter + (cycle - this.from) * this.scale; }

  figure(model, index, width) {
    const height = 18 + 2 * kLane + kLaneGap + 1;
    const svg = shape("svg", { viewBox : `0 0 ${width} ${height}`, height, "aria-hidden" : "true" });
    svg.append(...this.axis(width, height));
    kUnits.forEach((unit, row) => {
      const y = 18 + row * (kLane + kLaneGap);
      svg.append(shape("text", { class : "name", x : 0, y : y + kLane / 2 + 4 }, unit));
      const end = Math.min(Number(model.cycles), this.from + this.length);
      if (end > this.from) {
        svg.append(shape("rect", { class : "bed", x : kGutter, y,
          width : this.x(end) - kGutter, height : kLane }));
      }
      svg.append(...this.boxes(2 * index + row, y));
    });
    return node("figure", "", node("figcaption", "", modelName(model),
      node("span", "", `${grouped(model.cycles)} cycles`)), svg);
  }

  axis(width, height) {
    const wanted = 80 / this.scale;
    const decade = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
    const step = [1, 2, 5, 10].map((factor) => factor * decade).find((s) => s >= wanted) ?? decade;
    const marks = [];
    for (let cycle = Math.ceil(this.from / step) * step; cycle <= this.from + this.length; cycle += step) {
      const x = this.x(cycle);
      marks.push(shape("line", { x1 : x, x2 : x, y1 : 4, y2 : height }));
      if (x < width - 30) marks.push(shape("text", { class : "axis", x : x + 3, y : 12 }, grouped(cycle)));
    }
    return marks;
  }

  /** Of a lane, what is in view: [first, end) of its intervals. */
  inView({ intervals }) {
    const search = (isBefore) => {
      let low = 0, high = intervals.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (isBefore(intervals[middle])) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    return [search((i) => i.end <= this.from), search((i) => i.start < this.from + this.length)];
  }

  boxes(number, y) {
    const lane = this.lanes[number];
    const [first, end] = this.inView(lane);
    if (end - first > kMostBoxes) return this.pixels(lane, first, end, y);
    const chosen = this.chosen();
    const boxes = [], marked = [];
    for (let i = first; i < end; ++i) {
      const interval = lane.intervals[i];
      const left = Math.max(this.x(interval.start), kGutter);
      const width = Math.max(0.5, this.x(Math.min(interval.end, this.from + this.length)) - left);
      const isChosen = chosen && (interval === chosen
        || (interval.cause === "busy" && interval.step === chosen.step));
      const kind = this.classOf(lane, interval);
      const inset = width > 3 && kind !== "data" && kind !== "buffer" ? 0.5 : 0;
      const look = kind + (inset ? "" : " thin") + (isChosen ? " chosen" : "");
      const box = shape("rect", { class : look, x : left + inset,
        y : y + inset, width : width - 2 * inset, height : kLane - 2 * inset,
        "stroke-width" : inset ? 1 : 0 });
      box.addEventListener("click", () => this.choose(number, i));
      const group = isChosen ? marked : boxes;
      group.push(box);
      if (interval.cause === "busy" && width >= kLetterRoom) {
        group.push(shape("text", { x : left + width / 2, y : y + kLane / 2 + 4,
          "text-anchor" : "middle" }, this.letter.get(this.instruction(interval).op)));
      }
    }
    return [...boxes, ...marked];
  }

  /** Too many for boxes: each pixel takes the kind that fills most of it. */
  pixels(lane, first, end, y) {
    const columns = new Map();
    for (let i = first; i < end; ++i) {
      const interval = lane.intervals[i];
      const kind = this.classOf(lane, interval);
      const right = Math.min(this.x(interval.end), this.x(this.from + this.length));
      for (let left = Math.max(this.x(interval.start), kGutter); left < right;) {
        const column = Math.floor(left);
        const next = Math.min(right, column + 1);
        const sums = columns.get(column) ?? {};
        sums[kind] = (sums[kind] ?? 0) + next - left;
        columns.set(column, sums);
        left = next;
      }
    }
    const runs = [];
    for (const [column, sums] of [...columns].sort((a, b) => a[0] - b[0])) {
      const kind = Object.entries(sums).reduce((a, b) => (b[1] > a[1] ? b : a))[0];
      const last = runs.at(-1);
      if (last?.kind === kind && last.end === column) last.end = column + 1;
      else runs.push({ kind, start : column, end : column + 1 });
    }
    return runs.map(({ kind, start, end : stop }) => shape("rect", { class : `${kind} thin`,
      x : start, y, width : stop - start, height : kLane, "stroke-width" : 0 }));
  }

  // ---- Choosing

  chosen() { return this.at && this.lanes[this.at.lane].intervals[this.at.index]; }

  choose(lane, index) {
    this.at = { lane, index };
    const { start, end } = this.chosen();
    const middle = (start + end) / 2;
    if (middle < this.from || middle >= this.from + this.length) {
      this.look(Math.floor(middle - this.length / 2), this.length);
    } else {
      this.draw();
    }
    this.drawLines();
  }

  /** The chosen stretch in words. */
  tell() {
    const interval = this.chosen();
    const detail = byId("detail");
    if (!interval) {
      detail.textContent = "Choose a stretch: click it, or use the arrow keys in the lanes.";
      return;
    }
    const lane = this.lanes[this.at.lane];
    const length = interval.end - interval.start;
    const time = `cycles ${grouped(interval.start)} to ${grouped(interval.end)} (${grouped(length)})`;
    const place = `${modelName(lane.model)}, ${lane.unit}, ${time}: `;
    if (interval.site === undefined) {
      detail.replaceChildren(place, kCauses.idle);
      return;
    }
    const { text, line } = this.instruction(interval);
    const what = interval.cause === "busy" ? "" : `${kCauses[interval.cause]} before `;
    detail.replaceChildren(place, what, node("b", "", text),
      `, step ${grouped(interval.step)}, line ${line}`);
  }

  move(steps) {
    if (!this.at) {
      const lane = this.lanes.findIndex(({ intervals }) => intervals.length > 0);
      if (lane >= 0) this.choose(lane, this.inView(this.lanes[lane])[0]);
      return;
    }
    const index = this.at.index + steps;
    if (index >= 0 && index < this.lanes[this.at.lane].intervals.length) this.choose(this.at.lane, index);
  }

  moveLane(steps) {
    if (!this.at) return this.move(0);
    const { start } = this.chosen();
    for (let lane = this.at.lane + steps; lane >= 0 && lane < this.lanes.length; lane += steps) {
      const { intervals } = this.lanes[lane];
      if (intervals.length === 0) continue;
      const index = intervals.findIndex((interval) => interval.end > start);
      return this.choose(lane, index < 0 ? intervals.length - 1 : index);
    }
    return undefined;
  }

  // ---- The view

  look(from, length) {
    this.length = Math.max(4, Math.min(Math.round(length), this.last - this.first));
    this.from = Math.max(this.first, Math.min(Math.round(from), this.last - this.length));
    this.draw();
  }

  zoom(factor) {
    const interval = this.chosen();
    const middle = this.from + this.length / 2;
    const inSight = interval && interval.end > this.from && interval.start < this.from + this.length;
    const focus = inSight ? Math.max(this.from, interval.start) : middle;
    const length = this.length * factor;
    this.look(focus - ((focus - this.from) / this.length) * length, length);
  }

  listen() {
    const actions = {
      earlier : () => this.look(this.from - this.length / 2, this.length),
      later : () => this.look(this.from + this.length / 2, this.length),
      out : () => this.zoom(2),
      in : () => this.zoom(0.5),
      all : () => this.look(this.first, this.last - this.first),
    };
    for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
    byId("scrubber").addEventListener("input", (event) => this.look(Number(event.target.value), this.length));
    byId("model").addEventListener("change", () => this.drawLines());
    byId("lanes").addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const action = { ArrowLeft : () => this.move(-1), ArrowRight : () => this.move(1),
        ArrowUp : () => this.moveLane(-1), ArrowDown : () => this.moveLane(1),
        "+" : actions.in, "=" : actions.in, "-" : actions.out, 0 : actions.all }[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
    window.addEventListener("resize", () => this.draw());
  }
}

new Page(JSON.parse(byId("timeline").textContent));
