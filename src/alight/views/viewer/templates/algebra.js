// Vectors, quaternions (xyzw) and matrices, in double precision until they go to the GPU.
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => { const n = norm(a); return n > 0 ? scaled(a, 1 / n) : [0, 0, 1]; };
const clamp = (x, a, b) => Math.min(Math.max(x, a), b);

function rotate(q, v) {
  const u = [q[0], q[1], q[2]], t = scaled(cross(u, v), 2);
  return add(add(v, scaled(t, q[3])), cross(u, t));
}
const conjugate = (q) => [-q[0], -q[1], -q[2], q[3]];
const multiply = (a, b) => [
  a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
  a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
  a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
  a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
];

// The even turn from row a to row b of an array of quaternions, the shorter way.
function slerp(array, a, b, s) {
  let d = 0;
  for (let i = 0; i < 4; i++) d += array[a + i] * array[b + i];
  const sign = d < 0 ? -1 : 1, half = Math.acos(Math.min(1, Math.abs(d))), size = Math.sin(half);
  const u = size < 1e-6 ? 1 - s : Math.sin((1 - s) * half) / size;
  const v = (size < 1e-6 ? s : Math.sin(s * half) / size) * sign;
  const q = [0, 1, 2, 3].map((i) => u * array[a + i] + v * array[b + i]);
  const n = Math.hypot(...q) || 1;
  return q.map((x) => x / n);
}

// Row at or before a time: of rows at one time the last counts. Returns the row and the part of the way on.
function lineAt(times, first, count, t) {
  let low = 0, high = count - 1;
  while (high - low > 0) {
    const mid = (low + high + 1) >> 1;
    if (times[first + mid] <= t) low = mid; else high = mid - 1;
  }
  if (low >= count - 1) return [first + count - 1, 0];
  const a = times[first + low], b = times[first + low + 1];
  return [first + low, t <= a ? 0 : (t - a) / (b - a)];
}

// East, north and up where ``up`` is given; as alight.core.frames.local_frame has them.
function localFrame(up) {
  const z = unit(up);
  let east = cross([0, 0, 1], z);
  if (norm(east) < 1e-9) east = [0, 1, 0];
  east = unit(east);
  return [east, cross(z, east), z];
}

// Projection and view as one matrix; what is drawn is seen from the eye.
function viewMatrix(right, up, back, fov, aspect, near, far) {
  const f = 1 / Math.tan(fov / 2), a = f / aspect;
  const c = (far + near) / (near - far), d = (2 * far * near) / (near - far);
  const rows = [scaled(right, a), scaled(up, f), scaled(back, c), scaled(back, -1)];
  const m = new Float32Array(16);
  for (let r = 0; r < 4; r++) for (let k = 0; k < 3; k++) m[4 * k + r] = rows[r][k];
  m[14] = d;
  return m;
}
