// Mouse, touch and keys.
class Hands {
  constructor(viewer) {
    this.viewer = viewer;
    this.down = new Map();
    const { canvas } = viewer;
    canvas.addEventListener("pointerdown", (e) => this.press(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (e) => this.release(e));
    canvas.addEventListener("wheel", (e) => { e.preventDefault(); this.zoom(Math.exp(0.0012 * e.deltaY)); }, { passive: false });
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("keydown", (e) => this.key(e));
  }

  press(e) {
    this.viewer.canvas.setPointerCapture(e.pointerId);
    this.down.set(e.pointerId, [e.offsetX, e.offsetY]);
    this.moved = this.down.size > 1 ? Infinity : 0;
  }

  move(e) {
    const { viewer } = this, before = this.down.get(e.pointerId), { canvas, camera } = viewer;
    if (!before) {
      canvas.style.cursor = viewer.view && viewer.nearest(e.offsetX, e.offsetY) ? "pointer" : "grab";
      return;
    }
    const now = [e.offsetX, e.offsetY], dx = now[0] - before[0], dy = now[1] - before[1];
    this.moved += Math.abs(dx) + Math.abs(dy);
    if (this.down.size === 2) this.pinch(e.pointerId, before, now);
    else if (e.buttons & 6 || e.shiftKey) camera.panBy(dx / canvas.clientHeight, dy / canvas.clientHeight);
    else camera.turnBy((3.4 * dx) / canvas.clientHeight, (3.4 * dy) / canvas.clientHeight);
    this.down.set(e.pointerId, now);
    viewer.draw();
  }

  pinch(id, before, now) {
    const other = [...this.down].find(([key]) => key !== id)[1], { camera, canvas } = this.viewer;
    const gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
    camera.zoomBy(gap(before) / gap(now));
    camera.panBy((now[0] - before[0]) / 2 / canvas.clientHeight, (now[1] - before[1]) / 2 / canvas.clientHeight);
  }

  release(e) {
    if (this.down.delete(e.pointerId) && this.moved < 6 && e.type === "pointerup")
      this.viewer.pick(this.viewer.nearest(e.offsetX, e.offsetY, e.pointerType === "touch" ? 26 : 16));
  }

  zoom(factor) {
    this.viewer.camera.zoomBy(factor);
    this.viewer.draw();
  }

  key(e) {
    const { viewer } = this, { camera, header } = viewer, step = header.end / 200;
    const tracks = viewer.motion.tracks, on = (d) => viewer.set({ track: (tracks.indexOf(viewer.followed) + d + tracks.length) % Math.max(tracks.length, 1) });
    const turn = (x, y) => { camera.turnBy(x, y); viewer.draw(); };
    const acts = {
      " ": () => viewer.play(!viewer.playing), ArrowLeft: () => turn(0.1, 0), ArrowRight: () => turn(-0.1, 0),
      ArrowUp: () => turn(0, 0.1), ArrowDown: () => turn(0, -0.1), "+": () => this.zoom(0.85), "=": () => this.zoom(0.85),
      "-": () => this.zoom(1 / 0.85), ",": () => viewer.seek(viewer.time - step), ".": () => viewer.seek(viewer.time + step),
      Home: () => { viewer.seek(0); camera.choose(camera.kind); }, n: () => on(1), p: () => on(-1),
      b: () => viewer.set({ camera: "body" }), l: () => viewer.set({ camera: "footprint" }),
      f: () => viewer.set({ camera: "follow" }), g: () => viewer.set({ camera: "ground" }),
      i: () => viewer.set({ frame: viewer.frames[(viewer.frames.findIndex(([k]) => k === viewer.frame) + 1) % viewer.frames.length][0] }),
      Escape: () => viewer.pick(null),
    };
    if (!acts[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    acts[e.key]();
  }
}

// Every viewer of the page; where one cannot be, its still picture stays and a line says why.
async function startViewers() {
  const all = [];
  for (const root of document.querySelectorAll(".alight-viewer")) {
    try {
      const { header, arrays } = await openContainer(root.querySelector("script").textContent);
      const viewer = new Viewer(root, header, arrays);
      const hash = () => viewer.set(Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
      if (/[=]/.test(location.hash)) hash();
      addEventListener("hashchange", () => /[=]/.test(location.hash) && hash());
      all.push(viewer);
    } catch (error) {
      root.querySelector('[data-part="why"]').textContent = `This is a still picture: ${error.message}.`;
    }
  }
  return all;
}
window.alightViewers = startViewers();
