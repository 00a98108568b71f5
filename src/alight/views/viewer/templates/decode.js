// Reading the container: base64, deflate, a header in JSON, and arrays plane by plane.
async function openContainer(text) {
  const raw = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = new DataView(data.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + size)));
  const arrays = {};
  for (const [name, about] of Object.entries(header.arrays))
    arrays[name] = readArray(data.subarray(4 + size), about);
  return { header, arrays };
}

// Rows of numbers, row by row; whole ones without a step.
function readArray(body, about) {
  const { o, n } = about;
  if (about.f) {
    const bytes = new Uint8Array(4 * n);
    for (let k = 0; k < 4; k++) for (let i = 0; i < n; i++) bytes[4 * i + k] = body[o + k * n + i];
    return new Float32Array(bytes.buffer);
  }
  const w = about.w, count = n * w, q = about.q, out = q ? new Float64Array(count) : new Int32Array(count);
  for (let c = 0; c < w; c++) {
    let sum = 0;
    const base = q ? about.b[c] : 0;
    for (let r = 0; r < n; r++) {
      const at = c * n + r;
      let folded = 0;
      for (let k = about.k - 1; k >= 0; k--) folded = folded * 256 + body[o + k * count + at];
      sum += folded % 2 ? -(folded + 1) / 2 : folded / 2;
      out[r * w + c] = q ? base + q * sum : sum;
    }
  }
  return out;
}
