// Drives the page of `flashlab figure` with keys and sliders, and leaves what it showed.
(() => {
  const figure = document.querySelector(".moving");
  const text = (selector) => figure.querySelector(selector).textContent;
  const key = (name, target = figure) =>
    target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  const state = () => ({
    where: text(".mf-where"),
    caption: text(".mf-caption"),
    held: [...figure.querySelectorAll(".mf-stage .mf-inverse")]
      .map((one) => one.textContent.replace(/ ?\d+×/, "")).filter(Boolean),
    inMatrix: [...figure.querySelectorAll(".mf-stage .mf-halo")].map((one) => one.textContent),
    numbers: [...figure.querySelectorAll(".mf-number")].map((one) => one.textContent.replace(/\u202f/g, "")),
  });
  const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const report = { errors: window.errorsSoFar, steps: [], runs: [], widest: overflow() };
  report.hidden = [document.getElementById("stills").hidden, document.getElementById("figure").hidden];
  report.start = state();
  for (let i = 0; i < 9; ++i) {
    key("ArrowRight");
    report.steps.push(state());
  }
  key("ArrowLeft");
  report.back = state();
  key(" ");
  report.plays = figure.querySelector("[aria-label=Pause]") !== null;
  key(" ");
  report.stops = figure.querySelector("[aria-label=Play]") !== null;
  key("End");
  report.end = state();
  key("Home");
  report.home = state();
  const sliders = [...figure.querySelectorAll(".mf-sliders input")];
  key("ArrowRight", sliders[0]);  // a slider's own key, which does not step
  report.afterSliderKey = text(".mf-where");
  report.names = sliders.map((one) => one.getAttribute("aria-label"));
  for (let b = 0; b <= Number(sliders[0].max); ++b) {
    for (let bk = 0; bk <= Number(sliders[1].max); ++bk) {
      for (const [slider, value] of [[sliders[0], b], [sliders[1], bk]]) {
        slider.value = value;
        slider.dispatchEvent(new Event("input"));
      }
      key("End");
      report.runs.push([...sliders.map((one) => one.getAttribute("aria-valuetext")), ...state().numbers]);
      report.widest = Math.max(report.widest, overflow());
    }
  }
  figure.style.width = "328px";  // on a phone of 390
  report.cut = [];
  report.values = "";
  const scrubber = figure.querySelector(".mf-scrub input");
  for (const below of [0, 1]) {  // the largest tiles, and half of them
    for (const slider of sliders) {
      slider.value = Math.max(0, Number(slider.max) - below);
      slider.dispatchEvent(new Event("input"));
    }
    for (key("Home"); scrubber.value !== scrubber.max;) {
      key("ArrowRight");
      for (const one of figure.querySelectorAll(".mf-values")) {
        if (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) report.cut.push(one.textContent);
        report.values += one.textContent;
      }
    }
  }
  report.values = [...new Set(report.values)].join("");
  const pre = document.createElement("pre");
  pre.id = "report";
  pre.textContent = JSON.stringify(report);
  document.body.append(pre);
})();
