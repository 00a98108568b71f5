// Where one looks from: an orbit about a point, in axes that the point brings along.
const FOV = 0.7;

class Camera {
  constructor(viewer) {
    this.viewer = viewer;
    this.pan = [0, 0, 0];
    this.choose(viewer.kinds[0]);
  }

  // "body", "footprint", "follow" or "ground".
  choose(kind) {
    const { header } = this.viewer;
    this.kind = kind;
    this.pan = [0, 0, 0];
    const fit = 1.12 / Math.tan(FOV / 2);
    if (kind === "body") {
      this.distance = header.size * fit;
      const f = unit(header.target ? header.focus : [1, -0.6, 0.35]);
      this.azimuth = Math.atan2(f[1], f[0]) + 0.5;
      this.elevation = clamp(Math.asin(clamp(f[2], -1, 1)), -0.7, 0.7) + 0.15;
    } else {
      const reach = { footprint: 1.15 * this.viewer.footprint.reach * fit, follow: (header.kind === "landing" ? 7 : 2.1) * header.lander, ground: 11 * header.lander };
      this.distance = reach[kind];
      this.azimuth = -2.2;
      this.elevation = { footprint: 0.75, follow: 0.42, ground: 0.12 }[kind];
    }
  }

  // Point looked at and axes (east, north, up), in the axes of the playback at time t.
  anchor(t) {
    const { viewer } = this, { header, motion } = viewer, track = viewer.followed;
    let point = this.kind === "body" ? (header.target ? [0, 0, 0] : header.focus) : header.focus, frame = null;
    if (this.kind === "footprint") point = viewer.footprint.middle;
    if (this.kind === "follow" && track) point = motion.at(track, 0, t).place;
    if (this.kind === "follow" && track && header.kind !== "landing")
      point = scaled(add(point, motion.at(track, track.pose[1], t).place), 0.5);
    if (this.kind === "ground" && track) point = track.rest;
    if (this.kind !== "body") frame = viewer.outward(point);
    else frame = header.up ? header.up : [0, 0, 1];
    let axes = localFrame(frame);
    if (this.kind === "body" && !header.up) axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    return this.kind === "ground" ? { point, axes } : viewer.inFrame(point, axes, t); // who stands on the ground turns with it
  }

  place(t, aspect) {
    const { point, axes } = this.anchor(t), [x, y, z] = axes, viewer = this.viewer;
    const c = Math.cos(this.elevation), ca = Math.cos(this.azimuth), sa = Math.sin(this.azimuth);
    const back = add(add(scaled(x, c * ca), scaled(y, c * sa)), scaled(z, Math.sin(this.elevation)));
    const right = unit(cross(z, back)), up = cross(back, right);
    const middle = add(point, add(add(scaled(x, this.pan[0]), scaled(y, this.pan[1])), scaled(z, this.pan[2])));
    let eye = add(middle, scaled(back, this.distance)), look = { back, right, up };
    if (this.kind === "ground" && viewer.followed) look = this.fromGround(eye, z, t) || look;
    if (aspect < 1) eye = add(eye, scaled(look.back, this.distance * (1 / aspect - 1) * (this.kind === "ground" ? 0 : 1)));
    this.seen = { eye, middle, ...look, far: norm(sub(eye, middle)) };
    return this.seen;
  }

  // Stand where the lander comes to rest, and look at where it is.
  fromGround(eye, up, t) {
    const at = this.viewer.motion.at(this.viewer.followed, 0, t).place, way = sub(eye, at);
    const back = unit(way), right = cross(up, back);
    return norm(right) < 1e-6 ? null : { back, right: unit(right), up: cross(back, unit(right)) };
  }

  matrix(t, aspect) {
    const s = this.place(t, aspect), { header } = this.viewer;
    const reach = norm(sub(s.eye, header.target ? [0, 0, 0] : s.middle)) + 1.6 * header.size + 4 * header.reach;
    const near = Math.max(0.03 * Math.min(s.far, this.distance), 1e-6 * reach);
    this.near = near;
    return viewMatrix(s.right, s.up, s.back, FOV, aspect, near, Math.max(reach, 50 * near));
  }

  turnBy(dx, dy) {
    this.azimuth -= dx;
    this.elevation = clamp(this.elevation + dy, -1.55, 1.55);
  }

  zoomBy(factor) {
    const { header } = this.viewer;
    this.distance = clamp(this.distance * factor, 1.5 * header.lander, 12 * (header.size + header.reach));
  }

  panBy(dx, dy) {
    const s = this.seen, { axes } = this.anchor(this.viewer.time), size = 2 * s.far * Math.tan(FOV / 2);
    const way = add(scaled(s.right, -dx * size), scaled(s.up, dy * size));
    this.pan = add(this.pan, axes.map((axis) => dot(axis, way)));
  }
}
