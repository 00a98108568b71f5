// Words and controls around the picture. Text goes in as text alone: names are never read as HTML.
const COLOURS = {
  settled: [86, 180, 233], held: [86, 180, 233], at_rest: [86, 180, 233], released: [240, 228, 66],
  escaped: [213, 94, 0], lost: [213, 94, 0], tipped_over: [230, 159, 0], timed_out: [204, 121, 167],
};
const MORE = [[0, 158, 115], [240, 228, 66], [230, 159, 0], [0, 114, 178], [204, 121, 167], [170, 170, 170]];
const EMPTY = [120, 124, 132];

function outcomeColour(word, all) {
  return COLOURS[word] || MORE[Math.max(0, all.filter((one) => !COLOURS[one]).indexOf(word)) % MORE.length];
}

function onLadder(map, x) {
  const at = clamp(x, 0, 1) * (map.length - 1), i = Math.min(Math.floor(at), map.length - 2);
  return map[i].map((c, k) => c + (at - i) * (map[i + 1][k] - c));
}

function number(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (typeof x !== "number") return String(x);
  if (Number.isInteger(x) && Math.abs(x) < 1e9) return String(x);
  const size = Math.abs(x);
  return size >= 1e-3 && size < 1e6 ? String(Number(x.toPrecision(5))) : x.toExponential(3);
}

function clock(t) {
  if (t < 120) return `${t.toFixed(t < 10 ? 3 : 2)} s`;
  const h = Math.floor(t / 3600), m = Math.floor((t % 3600) / 60), s = t % 60;
  return (h ? `${h} h ` : "") + `${m} min ${s.toFixed(1)} s`;
}

function length(metres) {
  return metres >= 1000 ? `${metres / 1000} km` : metres >= 1 ? `${metres} m` : metres >= 0.01 ? `${Math.round(100 * metres)} cm` : `${Number((1000 * metres).toPrecision(2))} mm`;
}

function element(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

class Panel {
  constructor(root, viewer) {
    this.root = root;
    this.viewer = viewer;
    this.at = (name) => root.querySelector(`[data-part="${name}"]`);
    this.fill();
    this.listen();
    this.legend();
  }

  fill() {
    const { viewer } = this, { header } = viewer;
    const options = (name, list, keep) => {
      const select = this.at(name);
      select.replaceChildren(...list.map(([value, text]) => Object.assign(element("option", text), { value })));
      select.closest("label").hidden = list.length < 2 && !keep;
    };
    const whole = header.kind === "landing" ? (header.target ? "whole body" : "all of it") : "all of it";
    const words = { body: whole, footprint: "where they land", follow: header.kind === "landing" ? "follow a lander" : "follow the body", ground: "from the ground" };
    if (header.tracks.length === 1) words.footprint = "where it lands";
    options("camera", viewer.kinds.map((kind) => [kind, words[kind]]));
    options("run", viewer.motion.tracks.map((track, i) => [i, `run ${track.run}: ${track.outcome.replaceAll("_", " ")}`]));
    options("light", viewer.lights);
    options("frame", viewer.frames.map(([key, text]) => [key, text]));
    const own = header.target ? header.target.colours : [];
    options("colour", [["plain", "plain"], ...own.map((one) => [one.name, `${one.name}${one.unit ? ` [${one.unit}]` : ""}`])]);
    const sites = header.sites;
    options("sites", sites ? [["outcome", "outcome"], ...sites.columns.map(([name]) => [name, name])] : []);
    const fit = Math.max(header.end / 20, 1e-9), speeds = [0.1, 1, 10, 100, 1000].filter((s) => s * 2000 > fit && s < 40 * fit);
    options("speed", [[fit, "all in 20 s"], ...speeds.map((s) => [s, `${s} × real time`])], true);
    for (const name of ["paths", "marks"]) this.at(name).closest("label").hidden = header.kind !== "landing" || !header.tracks.length;
    const slider = this.at("time");
    slider.max = 1000;
    slider.step = "any";
    this.at("notes").replaceChildren(...header.notes.map((line) => element("li", line.charAt(0).toUpperCase() + line.slice(1))));
    this.root.querySelector(".bar").hidden = header.end <= 0;
  }

  listen() {
    const { viewer } = this, on = (name, kind, act) => this.at(name).addEventListener(kind, act);
    on("play", "click", () => viewer.play(!viewer.playing));
    on("time", "input", (e) => { viewer.play(false); viewer.seek((e.target.value / 1000) * viewer.header.end); });
    on("speed", "change", (e) => { viewer.rate = Number(e.target.value); });
    on("camera", "change", (e) => viewer.set({ camera: e.target.value }));
    on("run", "change", (e) => viewer.set({ track: Number(e.target.value) }));
    on("light", "change", (e) => viewer.set({ light: e.target.value }));
    on("frame", "change", (e) => viewer.set({ frame: e.target.value }));
    on("colour", "change", (e) => viewer.set({ colour: e.target.value }));
    on("sites", "change", (e) => viewer.set({ sites: e.target.value }));
    on("paths", "change", (e) => viewer.set({ paths: e.target.checked }));
    on("marks", "change", (e) => viewer.set({ marks: e.target.checked }));
    on("close", "click", () => viewer.pick(null));
    on("copy", "click", () => navigator.clipboard?.writeText(this.at("command").textContent));
    on("full", "click", () => {
      const box = this.root.querySelector(".stage");
      if (document.fullscreenElement) document.exitFullscreen(); else box.requestFullscreen?.();
    });
  }

  // What is chosen, shown in the controls.
  follow() {
    const { viewer } = this;
    const values = { camera: viewer.camera.kind, run: viewer.motion.tracks.indexOf(viewer.followed), frame: viewer.frame, light: viewer.light, colour: viewer.colour, sites: viewer.siteColour };
    for (const [name, value] of Object.entries(values)) if (this.at(name).value !== String(value)) this.at(name).value = value;
    this.at("paths").checked = viewer.paths;
    this.at("marks").checked = viewer.marks;
  }

  tick() {
    const { viewer } = this, { header, followed, time } = viewer;
    this.at("time").value = header.end > 0 ? (1000 * time) / header.end : 0;
    this.at("time").setAttribute("aria-valuetext", clock(time));
    this.at("play").textContent = viewer.playing ? "Pause" : "Play";
    const speed = followed ? viewer.motion.speed(followed, time) : 0;
    const who = followed && header.tracks.length > 1 ? `run ${followed.run}: ` : "";
    const moving = followed && time < followed.end;
    this.at("clock").textContent = header.end > 0 ? clock(time) : "";
    this.at("speedometer").textContent = !followed || header.end <= 0 ? "" : moving ? `${who}${number(Number(speed.toPrecision(3)))} m/s` : `${who}${followed.outcome.replaceAll("_", " ")}`;
  }

  scale() {
    const { viewer } = this, { seen } = viewer.camera, height = viewer.canvas.clientHeight || 1;
    const metres = (2 * seen.far * Math.tan(FOV / 2)) / height, most = 130 * metres;
    const ten = 10 ** Math.floor(Math.log10(most)), size = [5, 2, 1].find((k) => k * ten <= most) * ten;
    this.at("bar").style.width = `${(size / metres).toFixed(1)}px`;
    this.at("length").textContent = length(Number(size.toPrecision(1)));
    const north = viewer.northOnScreen(), arrow = this.at("north");
    arrow.closest(".over").hidden = !north;
    if (north) arrow.style.transform = `rotate(${Math.atan2(north[0], north[1])}rad) scaleY(${Math.max(0.35, Math.hypot(...north)).toFixed(3)})`;
  }

  legend() {
    const { viewer } = this, { header } = viewer, box = this.at("legend"), parts = [];
    const bar = (title, map, low, high) => {
      const made = element("div", undefined, "ladder"), strip = element("span", undefined, "strip");
      strip.style.background = `linear-gradient(90deg, ${map.map((c) => `rgb(${c.join(",")})`).join(",")})`;
      made.append(element("b", title), element("span", number(Number(low.toPrecision(3)))), strip, element("span", number(Number(high.toPrecision(3)))));
      parts.push(made);
    };
    const own = header.target?.colours.find((one) => one.name === viewer.colour);
    if (own) bar(`${own.name}${own.unit ? ` [${own.unit}]` : ""}`, own.map, own.low, own.high);
    const range = viewer.siteRange;
    if (range) bar(viewer.siteColour, header.sites.map, range[0], range[1]);
    else {
      const counts = viewer.outcomes();
      const made = element("div", undefined, "words");
      for (const [word, count] of counts) {
        const dot = element("i");
        dot.style.background = `rgb(${outcomeColour(word, [...counts.keys()]).join(",")})`;
        const said = element("span");
        said.append(dot, `${word.replaceAll("_", " ")}${count > 1 ? ` (${count})` : ""}`);
        made.append(said);
      }
      if (counts.size && header.kind === "landing") parts.push(made);
    }
    if (header.kind === "landing" && viewer.marks && viewer.motion.tracks.some((t) => t.marks[1])) {
      const made = element("div", undefined, "words"), said = element("span");
      said.append(element("i", undefined, "ring"), "contact so far, larger where faster");
      made.append(said);
      parts.push(made);
    }
    if (!header.sun) parts.push(element("div", header.kind === "landing" ? "No Sun in the scenario: another light stands in for it." : "No Sun: light comes from the viewer's left.", "words"));
    else if (viewer.light === "chosen") parts.push(element("div", viewer.night >= DARK ? "Night where they land: another light stands in for the Sun." : "Another light stands in for the Sun.", "words"));
    box.replaceChildren(...parts);
  }

  // The row of a run that was picked.
  show(found) {
    const box = this.at("row");
    box.hidden = !found;
    if (!found) return;
    const { header } = this.viewer;
    this.at("name").textContent = `Run ${found.run}: ${found.outcome.replaceAll("_", " ")}`;
    const more = found.track ? { ends_at_s: found.track.end, contacts: found.track.contacts } : {};
    const values = Object.keys(found.row).length ? found.row : more;
    const rows = Object.entries(values).filter(([name]) => name !== "run").map(([name, value]) => {
      const line = element("tr");
      line.append(element("th", name), element("td", number(value)));
      return line;
    });
    this.at("values").replaceChildren(...rows);
    const folder = /^[\w./-]+$/.test(header.folder) ? header.folder : `'${header.folder.replaceAll("'", "'\\''")}'`;
    this.at("replay").hidden = !header.folder;
    this.at("command").textContent = found.track ? `alight replay ${folder} ${found.run}` : `alight view ${folder} --run ${found.run}`;
    this.at("what").textContent = found.track ? "Recomputes it, step by step:" : "Its path was not kept. Recomputes it and shows it:";
  }
}
