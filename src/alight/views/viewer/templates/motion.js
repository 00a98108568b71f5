// Where everything is at a time.
class Motion {
  constructor(header, arrays) {
    this.header = header;
    this.arrays = arrays;
    this.tracks = header.tracks.map((track) => this.opened(track));
  }

  opened(track) {
    const n = track.poses;
    const own = { time: this.arrays[`time${n}`], place: this.arrays[`place${n}`], turn: this.arrays[`turn${n}`] };
    const a = track.first * 3 * n, b = (track.first + track.count - 1) * 3 * n;
    return {
      ...track, ...own, start: Array.from(own.place.subarray(a, a + 3)), rest: Array.from(own.place.subarray(b, b + 3)),
    };
  }

  // Place [m], turn and speed [m/s] of one pose of a track.
  at(track, pose, t) {
    const [line, s] = lineAt(track.time, track.first, track.count, t), w = track.poses;
    const next = s > 0 ? line + 1 : line, a = (line * w + pose) * 3, b = (next * w + pose) * 3;
    const place = [0, 1, 2].map((i) => track.place[a + i] + s * (track.place[b + i] - track.place[a + i]));
    return { place, turn: slerp(track.turn, (line * w + pose) * 4, (next * w + pose) * 4, s) };
  }

  speed(track, t) {
    const [line] = lineAt(track.time, track.first, track.count, t), last = track.first + track.count - 1;
    if (line >= last || t < track.time[track.first]) return 0;
    const step = track.time[line + 1] - track.time[line], a = line * track.poses * 3, b = a + track.poses * 3;
    const way = [0, 1, 2].map((i) => track.place[b + i] - track.place[a + i]);
    return step > 0 ? norm(way) / step : 0;
  }

  // Lines of a track between which its way is straight, but for a length [m].
  bends(track, far) {
    const kept = [track.first], last = track.first + track.count - 1, stack = [[track.first, last]];
    const at = (line) => { const a = line * 3 * track.poses; return [track.place[a], track.place[a + 1], track.place[a + 2]]; };
    while (stack.length) {
      const [a, b] = stack.pop(), start = at(a), way = sub(at(b), start), square = dot(way, way) || 1;
      let worst = far, cut = 0;
      for (let i = a + 1; i < b; i++) {
        const p = sub(at(i), start), off = norm(sub(p, scaled(way, clamp(dot(p, way) / square, 0, 1))));
        if (off > worst) [worst, cut] = [off, i];
      }
      if (cut) stack.push([cut, b], [a, cut]); else kept.push(b);
    }
    return kept;
  }

  // Vertices of the membrane from its carrier, and that one's place.
  cloth(track, t) {
    if (!track.cloth) return null;
    const [k, count] = track.cloth, times = this.arrays[`cloth${k}.t`], all = this.arrays[`cloth${k}.v`];
    const [line, s] = lineAt(times, 0, times.length, t), w = 3 * count, a = line * w;
    const b = s > 0 ? a + w : a, out = new Float32Array(w);
    for (let i = 0; i < w; i++) out[i] = all[a + i] + s * (all[b + i] - all[a + i]);
    return { vertices: out, place: this.at(track, track.pose[1], t).place };
  }

  // Attitude of the target against that at the start, and the Sun in the axes of the playback.
  sky(t) {
    const { count, end } = this.header.sky, x = clamp(t / end, 0, 1) * (count - 1);
    const i = Math.min(Math.floor(x), Math.max(count - 2, 0)), s = count > 1 ? x - i : 0, j = Math.min(i + 1, count - 1);
    const found = { turn: [0, 0, 0, 1], sun: null };
    const turn = this.arrays["sky.turn"], sun = this.arrays["sky.sun"];
    if (turn) found.turn = multiply(conjugate(slerp(turn, 0, 0, 0)), slerp(turn, 4 * i, 4 * j, s));
    if (sun) found.sun = unit([0, 1, 2].map((k) => sun[3 * i + k] + s * (sun[3 * j + k] - sun[3 * i + k])));
    return found;
  }
}
