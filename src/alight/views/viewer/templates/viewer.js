// The viewer: puts motion, camera, drawing and panel together.
const SMALL = 7; // pixels below which a lander is a mark
const NEAR = 0.8; // pieces of ground about a lander are seen from nearer than this, over half their sides
const LOW = 0.03, DARK = 0.35; // at night the Sun is lower [sine]; share of it above which light is chosen

class Viewer {
  constructor(root, header, arrays) {
    Object.assign(this, { root, header, arrays, time: 0, playing: false, paths: true, marks: true });
    this.canvas = root.querySelector("canvas");
    this.motion = new Motion(header, arrays);
    this.followed = this.motion.tracks[0] || null;
    this.picked = null;
    const landing = header.kind === "landing";
    this.kinds = landing ? ["body", ...(this.followed || header.sites ? ["footprint"] : []), ...(this.followed ? ["follow", "ground"] : [])] : ["follow"];
    this.frames = landing ? (header.turns && header.target ? [["fixed", "fixed in the body"], ["inertial", "inertial"]] : [["fixed", "fixed"]]) : [["fixed", "inertial"], ["asteroid", "fixed in the body"]];
    this.frame = "fixed";
    this.colour = "plain";
    this.looks = header.looks;
    this.footprint = this.touched();
    this.night = header.sun && landing && header.target ? this.nightShare() : 0;
    this.lights = header.sun ? [["sun", "the Sun's"], ["chosen", "chosen"]] : [["chosen", "chosen"]];
    this.light = header.sun && this.night < DARK ? "sun" : "chosen";
    this.siteColour = "outcome";
    this.rate = Math.max(header.end / 20, 1e-9);
    this.gl = new Drawing(this.canvas);
    this.camera = new Camera(this);
    this.load();
    this.panel = new Panel(root, this);
    new Hands(this);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    root.classList.add("live");
    this.set({});
    if (landing && header.tracks.length === 1 && !header.sites) this.set({ camera: "footprint" });
  }

  // -- what is drawn -----------------------------------------------------------------------------

  load() {
    const { header, arrays, gl } = this, mesh = (name, smooth) => gl.mesh(arrays[`${name}.v`], arrays[`${name}.f`], smooth);
    if (header.target) this.target = mesh("target", true);
    if (header.rocks) this.rocks = mesh("rocks", false);
    this.grounds = header.grounds.map((ground, k) => ({ ...ground, mesh: mesh(`ground${k}`, Boolean(ground.half)) }));
    for (const { mesh: one } of this.grounds) if (one.smooth) gl.recolour(one, this.evenly(one, this.looks.terrain));
    this.sets = header.sets.map((set, k) => set.map((part, i) => ({ ...part, mesh: mesh(`part${k}.${i}`, part.role === "asteroid") })));
    for (const set of this.sets) for (const part of set) if (part.mesh.smooth) gl.recolour(part.mesh, this.evenly(part.mesh, this.looks.asteroid));
    const words = [...this.outcomes().keys()];
    for (const track of this.motion.tracks) {
      track.paint = outcomeColour(track.outcome, words).map((c) => c / 255);
      const kept = this.motion.bends(track, 0.2 * (header.errors.position_m || 0)), rows = new Float32Array(4 * kept.length);
      kept.forEach((line, i) => {
        const a = line * 3 * track.poses;
        for (let k = 0; k < 3; k++) rows[4 * i + k] = track.place[a + k] - header.focus[k];
        rows[4 * i + 3] = track.time[line];
      });
      track.path = gl.path(rows);
    }
    this.dots = gl.points(new Float32Array(7));
    this.rings = gl.points(new Float32Array(7));
    if (header.sites) this.sitePoints = gl.points(new Float32Array(7));
    if (arrays["cloth.f"]) {
      const count = this.motion.tracks.find((track) => track.cloth)?.cloth[1] || 0;
      this.cloth = gl.mesh(new Float64Array(3 * count), arrays["cloth.f"], false);
    }
  }

  evenly(mesh, rgb) {
    const out = new Uint8Array(4 * mesh.vertices);
    for (let i = 0; i < out.length; i++) out[i] = i % 4 === 3 ? 255 : Math.round(255 * rgb[i % 4]);
    return out;
  }

  paintTarget() {
    if (!this.target) return;
    const own = this.header.target.colours.find((one) => one.name === this.colour);
    if (!own) return this.gl.recolour(this.target, this.evenly(this.target, this.looks.terrain));
    const values = this.arrays[`target.${own.name}`], out = new Uint8Array(4 * values.length);
    for (let i = 0; i < values.length; i++) out.set(onLadder(own.map, values[i] / 255), 4 * i);
    this.gl.recolour(this.target, out);
  }

  paintSites() {
    const { sites } = this.header;
    this.siteRange = null;
    if (!sites) return;
    const v = this.arrays["sites.v"], codes = this.arrays["sites.outcome"], rows = new Float32Array(7 * sites.count);
    const values = this.arrays[`column ${this.siteColour}`];
    if (values) {
      const known = Array.from(values).filter((x) => !Number.isNaN(x)).sort((a, b) => a - b), at = (p) => known[Math.floor(p * (known.length - 1))];
      this.siteRange = known.length ? [at(0.02), at(0.98)] : [0, 1];
    }
    const [low, high] = this.siteRange || [0, 1], colours = sites.outcomes.map((word) => outcomeColour(word, sites.outcomes));
    const size = clamp(22 / Math.sqrt(sites.count / 20), 4, 9);
    for (let i = 0; i < sites.count; i++) {
      let rgb = colours[codes[i]];
      if (values) rgb = Number.isNaN(values[i]) ? EMPTY : onLadder(sites.map, high > low ? (values[i] - low) / (high - low) : 0.5);
      rows.set([v[3 * i], v[3 * i + 1], v[3 * i + 2], ...rgb.map((c) => c / 255), size], 7 * i);
    }
    this.gl.refill(this.sitePoints, rows);
  }

  outcomes() {
    const found = new Map(), { sites } = this.header, codes = this.arrays["sites.outcome"];
    if (sites) for (const code of codes) found.set(sites.outcomes[code], (found.get(sites.outcomes[code]) || 0) + 1);
    else for (const track of this.header.tracks) found.set(track.outcome, (found.get(track.outcome) || 0) + 1);
    return found;
  }

  // Where it is touched: all that is looked at, or of a single run the middle of its contacts and end.
  touched() {
    const { header, motion } = this, [track] = motion.tracks, whole = { middle: header.focus, reach: header.reach };
    if (motion.tracks.length !== 1 || header.sites || !track.marks) return whole;
    const all = this.arrays.marks, points = [track.rest], [first, count] = track.marks;
    for (let i = first; i < first + count; i++) points.push([1, 2, 3].map((k) => all[6 * i + k] + header.focus[k - 1]));
    const ends = [0, 1, 2].map((k) => [Math.min(...points.map((p) => p[k])), Math.max(...points.map((p) => p[k]))]);
    const middle = ends.map(([a, b]) => (a + b) / 2), reach = Math.max(...points.map((p) => norm(sub(p, middle))));
    return { middle, reach: Math.max(reach, 2.2 * header.lander) };
  }

  // Share of the time in which the Sun is down where runs end.
  nightShare() {
    const { count } = this.header.sky, sun = this.arrays["sky.sun"], up = this.outward(this.header.focus);
    let dark = 0;
    for (let i = 0; i < count; i++) if (dot([sun[3 * i], sun[3 * i + 1], sun[3 * i + 2]], up) < LOW) dark++;
    return dark / count;
  }

  // -- frames ------------------------------------------------------------------------------------

  outward(point) {
    return this.header.up || (this.header.target && norm(point) > 0 ? unit(point) : [0, 0, 1]);
  }

  inFrame(point, axes, t) {
    if (this.frame === "inertial") {
      const back = conjugate(this.motion.sky(t).turn);
      return { point, axes: axes.map((axis) => rotate(back, axis)) };
    }
    if (this.frame === "asteroid" && this.followed) {
      const now = this.motion.at(this.followed, 0, t).turn, start = this.motion.at(this.followed, 0, 0).turn;
      const turn = multiply(now, conjugate(start));
      return { point, axes: axes.map((axis) => rotate(turn, axis)) };
    }
    return { point, axes };
  }

  northOnScreen() {
    const s = this.camera.seen;
    if (!this.header.target || !s) return null;
    return [dot([0, 0, 1], s.right), dot([0, 0, 1], s.up)];
  }

  // -- drawing -----------------------------------------------------------------------------------

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.drawNow(); });
  }

  drawNow() {
    const { canvas, gl, camera } = this, ratio = gl.software ? 1 : Math.min(devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const view = camera.matrix(this.time, width / height), { eye, back, right, up } = camera.seen;
    const sky = this.motion.sky(this.time);
    const sun = (this.light === "sun" && sky.sun) || this.standIn(back, right, up);
    Object.assign(this, { view, size: [width, height], ratio });
    const moving = this.placed(eye, height);
    gl.shade.reach = 0;
    if (moving.some((one) => one.instances.length)) this.castShade(moving, eye, sun);
    gl.begin(view, width, height, camera.near, ratio);
    this.drawStill(eye, sun);
    for (const { mesh, instances, origin } of moving) gl.drawMesh(mesh, instances, { sun, ambient: 0.3, origin, unshaded: true });
    this.drawMarks(eye);
    this.drawCloth(eye, sun);
    this.panel.tick();
    this.panel.scale();
  }

  drawStill(eye, sun) {
    const { header, gl } = this, from = scaled(eye, -1), coloured = this.colour !== "plain";
    const look = { sun, ambient: coloured ? 0.45 : 0.14 };
    const still = (origin) => [...add(from, origin), 0, 0, 0, 1];
    const near = this.nearGround(), square = near?.half ? { ...near, middle: add(near.middle, from) } : null;
    if (this.target) gl.drawMesh(this.target, [...still([0, 0, 0]), 0, 0, 0], { ...look, closed: true }, square);
    for (const one of this.grounds)
      if (!one.half || one === near) gl.drawMesh(one.mesh, [...still(one.origin), ...this.looks.terrain], one.half ? look : { sun, ambient: 0.25 });
    if (this.rocks) gl.drawMesh(this.rocks, [...still(header.rocks.origin), ...this.looks.rocks], look);
  }

  // The piece of fine ground that one looks at: where it is, the body is left out.
  nearGround() {
    const plain = this.colour === "plain"; // numbers are known on the body alone
    const { middle, far } = this.camera.seen, way = (one) => norm(sub(one.middle, middle));
    const over = this.grounds.filter((one) => one.half && way(one) < one.half).sort((a, b) => a.half - b.half);
    return over.find((one) => far < NEAR * one.half) || over.find((one) => one.wide && plain && far < 12 * one.half) || null;
  }

  shownTracks() {
    return this.header.kind === "landing" ? this.motion.tracks : this.followed ? [this.followed] : [];
  }

  // A light for scenarios without a Sun: it stands over where runs end, or left of the viewer.
  standIn(back, right, up) {
    if (this.header.kind !== "landing") return unit(add(add(scaled(back, 0.6), scaled(right, -0.62)), scaled(up, 0.5)));
    const [east, north, zenith] = localFrame(this.outward(this.header.focus));
    return unit(add(add(scaled(zenith, 0.62), scaled(east, -0.65)), scaled(north, 0.35)));
  }

  // Parts with their places from the eye; landers too small to be seen become dots.
  placed(eye, height) {
    const { header, time } = this, pixel = (2 * Math.tan(FOV / 2)) / height, dots = [];
    const found = this.sets.map((set) => set.map((part) => ({ mesh: part.mesh, origin: part.origin, instances: [] })));
    for (const track of this.shownTracks()) {
      const first = this.motion.at(track, 0, time), away = norm(sub(first.place, eye));
      if ((2 * header.lander) / (away * pixel) < SMALL * this.ratio) {
        const big = track === this.followed || track.run === this.picked ? 11 : 8;
        dots.push(...sub(first.place, header.focus), ...track.paint, big);
        continue;
      }
      this.sets[track.set].forEach((part, i) => {
        const pose = track.pose[i], at = pose === 0 ? first : this.motion.at(track, pose, time);
        found[track.set][i].instances.push(...sub(at.place, eye), ...at.turn, ...(part.colour || this.looks[part.role] || this.looks.lander));
      });
    }
    this.gl.refill(this.dots, new Float32Array(dots));
    return found.flat();
  }

  // Shadows about what is looked at: those of landers and of rocks.
  castShade(moving, eye, sun) {
    const { header, camera } = this, middle = camera.kind === "body" ? null : this.followed && camera.kind !== "footprint" ? this.motion.at(this.followed, 0, this.time).place : camera.seen.middle;
    const landing = header.kind === "landing", reach = landing ? clamp(1.2 * camera.seen.far, 6 * header.lander, 60 * header.lander) : 1.2 * header.lander;
    if (!middle) return;
    const rocks = this.rocks ? [{ mesh: this.rocks, instances: [...sub(header.rocks.origin, eye), 0, 0, 0, 1, 0, 0, 0] }] : [];
    this.gl.castShade([...moving, ...rocks], sun, sub(middle, eye), reach);
  }

  drawMarks(eye) {
    const { gl, header, time } = this, offset = sub(header.focus, eye);
    if (this.paths && header.kind === "landing")
      for (const track of this.motion.tracks) {
        const chosen = track === this.followed && this.motion.tracks.length > 1;
        gl.drawPath(track.path, offset, time, [...track.paint, chosen || this.motion.tracks.length === 1 ? 0.95 : 0.6], chosen ? 2.6 : 1.6);
      }
    if (this.marks) this.drawContacts(offset);
    if (this.sitePoints) gl.drawPoints(this.sitePoints, offset, false);
    gl.drawPoints(this.dots, offset, false);
  }

  drawContacts(offset) {
    const all = this.arrays.marks, rows = [];
    if (!all || this.header.kind !== "landing") return;
    for (const track of this.motion.tracks) {
      const [first, count] = track.marks;
      if (this.motion.tracks.length > 20 && track !== this.followed) continue;
      for (let i = first; i < first + count; i++) {
        if (all[6 * i] > this.time) continue;
        const size = clamp(8 + 4 * Math.log10(Math.max(all[6 * i + 4], 1e-4) / 1e-2), 7, 18);
        rows.push(all[6 * i + 1], all[6 * i + 2], all[6 * i + 3], 1, 0.86, 0.4, size);
      }
    }
    this.gl.refill(this.rings, new Float32Array(rows));
    this.gl.drawPoints(this.rings, offset, true);
  }

  drawCloth(eye, sun) {
    const found = this.cloth && this.followed ? this.motion.cloth(this.followed, this.time) : null;
    if (!found) return;
    this.gl.reshape(this.cloth, found.vertices);
    this.gl.drawMesh(this.cloth, [...sub(found.place, eye), ...found.turn, ...this.looks.membrane], { sun, ambient: 0.35, cloth: true });
  }

  // -- what people do ----------------------------------------------------------------------------

  seek(t) {
    this.time = clamp(Number(t) || 0, 0, this.header.end);
    this.draw();
  }

  play(on) {
    if (on && this.time >= this.header.end) this.time = 0;
    if (on && !this.playing) {
      let before = null;
      const step = (now) => {
        if (!this.playing) return;
        if (before !== null) this.time = Math.min(this.time + (this.rate * (now - before)) / 1000, this.header.end);
        before = now;
        if (this.time >= this.header.end) this.playing = false;
        this.drawNow();
        if (this.playing) requestAnimationFrame(step);
      };
      this.playing = true;
      requestAnimationFrame(step);
    }
    this.playing = Boolean(on) && this.header.end > 0;
    this.draw();
  }

  set(choice) {
    const { motion, header } = this;
    if (choice.run !== undefined) choice.track = motion.tracks.findIndex((one) => one.run === Number(choice.run));
    if (motion.tracks[choice.track]) this.followed = motion.tracks[choice.track];
    if (this.kinds.includes(choice.camera)) this.camera.choose(choice.camera);
    if (this.frames.some(([key]) => key === choice.frame)) this.frame = choice.frame;
    if (this.lights.some(([key]) => key === choice.light)) this.light = choice.light;
    if (choice.colour === "plain" || header.target?.colours.some((one) => one.name === choice.colour)) this.colour = choice.colour;
    if (choice.sites === "outcome" || header.sites?.columns.some(([name]) => name === choice.sites)) this.siteColour = choice.sites;
    for (const key of ["paths", "marks"]) if (choice[key] !== undefined) this[key] = choice[key] !== false && choice[key] !== "0";
    for (const key of ["azimuth", "elevation", "distance"]) if (Number.isFinite(Number(choice[key] ?? NaN))) this.camera[key] = Number(choice[key]);
    this.paintTarget();
    this.paintSites();
    this.panel.follow();
    this.panel.legend();
    if (choice.t !== undefined) this.seek(choice.t);
    if (choice.play !== undefined) this.play(choice.play !== "0");
    this.draw();
  }

  pick(found) {
    this.picked = found ? found.run : null;
    if (found?.track) this.set({ track: this.motion.tracks.indexOf(found.track) });
    this.panel.show(found);
    this.draw();
  }

  // What is nearest to a place on the screen, within some pixels, and not behind the body.
  nearest(x, y, most = 16) {
    const { header, motion } = this, { eye } = this.camera.seen, best = { way: most, found: null };
    const look = (place, make) => {
      const at = this.onScreen(sub(place, eye));
      const way = at ? Math.hypot(at[0] - x, at[1] - y) : Infinity;
      if (way < best.way && (!header.target || dot(sub(place, eye), place) < 0)) Object.assign(best, { way, found: make });
    };
    const { sites } = header, v = this.arrays["sites.v"];
    for (let i = 0; i < (sites ? sites.count : 0); i++)
      look(add([v[3 * i], v[3 * i + 1], v[3 * i + 2]], header.focus), () => this.site(i));
    for (const track of this.shownTracks())
      look(motion.at(track, 0, this.time).place, () => ({ run: track.run, outcome: track.outcome, row: track.row, track }));
    return best.found ? best.found() : null;
  }

  site(i) {
    const { sites } = this.header, run = this.arrays["sites.run"][i];
    const row = Object.fromEntries(sites.columns.map(([name]) => [name, this.arrays[`column ${name}`][i]]));
    const track = this.motion.tracks.find((one) => one.run === run);
    return { run, outcome: sites.outcomes[this.arrays["sites.outcome"][i]], row: track ? track.row : row, track };
  }

  onScreen(p) {
    const m = this.view, w = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
    if (w <= 0) return null;
    const x = (m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12]) / w, y = (m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13]) / w;
    return [((x + 1) / 2) * this.canvas.clientWidth, ((1 - y) / 2) * this.canvas.clientHeight];
  }

  // Frames a second that are drawn, the picture read back each time; for tests and the doubtful.
  measure(frames = 20) {
    const pixel = new Uint8Array(4), start = performance.now(), { gl } = this.gl;
    for (let i = 0; i < frames; i++) {
      this.time = (this.header.end * (i + 0.5)) / frames;
      this.drawNow();
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    }
    return (1000 * frames) / (performance.now() - start);
  }
}
