// The timeline page: sums, lanes, lines, and the stretch that the reader chose.
"use strict";

class Page {
  constructor(data) {
    this.data = data;
    this.at = null;  // {lane, index} of the chosen interval
    this.view = new Lanes(data, (lane, index) => this.choose(lane, index));
    this.lanes = this.view.lanes;
    this.describe();
    this.listen();
    this.draw();
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
    const hasElided = data.models.some(({ intervals }) => intervals.some(isElided));
    byId("legend").append(...laneLegend(data.instructions, hasElided));
    for (const [index, model] of data.models.entries()) {
      byId("model").append(Object.assign(node("option", "", modelName(model)), { value : index }));
    }
    byId("model").value = data.models.length - 1;
    const { first, last } = this.view;
    const more = data.models.some((model) => model.intervals_left_out > 0);
    byId("lanes-note").textContent = more ? `The page holds cycles ${grouped(first)} to `
      + `${grouped(last)}; the command's --from and --to choose others.` : "";
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

  // ---- Choosing and looking

  draw() {
    const { view } = this;
    view.draw(this.chosen());
    const scrubber = byId("scrubber");
    scrubber.min = view.first;
    scrubber.max = Math.max(view.first, view.last - view.length);
    scrubber.disabled = view.length >= view.last - view.first;
    scrubber.value = view.from;
    scrubber.setAttribute("aria-valuetext",
      `cycles ${grouped(view.from)} to ${grouped(view.from + view.length)}`);
    this.tell();
  }

  chosen() { return this.at && this.lanes[this.at.lane].intervals[this.at.index]; }

  choose(lane, index) {
    this.at = { lane, index };
    const { start, end } = this.chosen();
    const middle = (start + end) / 2;
    if (middle < this.view.from || middle >= this.view.from + this.view.length) {
      this.look(Math.floor(middle - this.view.length / 2), this.view.length);
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
    if (isElided(interval)) {
      detail.replaceChildren(place, `${grouped(interval.steps)} steps of ${kElided}`);
      return;
    }
    if (interval.site === undefined) {
      detail.replaceChildren(place, kCauses.idle);
      return;
    }
    const { text, line } = this.view.instruction(interval);
    const what = interval.cause === "busy" ? "" : `${kCauses[interval.cause]} before `;
    detail.replaceChildren(place, what, node("b", "", text),
      `, step ${grouped(interval.step)}, line ${line}`);
  }

  move(steps) {
    if (!this.at) {
      const lane = this.lanes.findIndex(({ intervals }) => intervals.length > 0);
      if (lane >= 0) this.choose(lane, this.view.inView(this.lanes[lane])[0]);
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

  look(from, length) {
    this.view.look(from, length);
    this.draw();
  }

  /** Around the chosen stretch, if it is in sight. */
  zoom(factor) {
    const { from, length } = this.view;
    const interval = this.chosen();
    const inSight = interval && interval.end > from && interval.start < from + length;
    const focus = inSight ? Math.max(from, interval.start) : from + length / 2;
    this.look(focus - (focus - from) * factor, length * factor);
  }

  pan(share) { this.look(this.view.from + share * this.view.length, this.view.length); }

  listen() {
    const { first, last } = this.view;
    const actions = {
      earlier : () => this.pan(-0.5),
      later : () => this.pan(0.5),
      out : () => this.zoom(2),
      in : () => this.zoom(0.5),
      all : () => this.look(first, last - first),
    };
    for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
    byId("scrubber").addEventListener("input",
      (event) => this.look(Number(event.target.value), this.view.length));
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
