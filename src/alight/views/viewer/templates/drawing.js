// What is on the GPU, and how it is drawn.
class Drawing {
  constructor(canvas) {
    const probe = document.createElement("canvas").getContext("webgl2");
    if (!probe) throw new Error("this browser has no WebGL 2");
    const info = probe.getExtension("WEBGL_debug_renderer_info");
    const name = info ? String(probe.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
    this.software = /swiftshader|llvmpipe|software|basic render/i.test(name);
    probe.getExtension("WEBGL_lose_context")?.loseContext();
    const gl = canvas.getContext("webgl2", { antialias: !this.software, preserveDrawingBuffer: true });
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.gl = gl;
    this.solid = this.program(SOLID_VERTEX, SOLID_FRAGMENT(false));
    this.cut = this.program(SOLID_VERTEX, SOLID_FRAGMENT(true));
    this.cloth = this.program(SOLID_VERTEX, CLOTH_FRAGMENT);
    this.depth = this.program(SOLID_VERTEX, DEPTH_FRAGMENT);
    this.makeShade(this.software ? 512 : 1024);
    this.line = this.program(LINE_VERTEX, LINE_FRAGMENT);
    this.point = this.program(POINT_VERTEX, POINT_FRAGMENT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  // What the Sun sees of a few things: where it is nearer than a place, that place is in shadow.
  makeShade(size) {
    const gl = this.gl, texture = gl.createTexture(), frame = gl.createFramebuffer();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, size, size);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    for (const kind of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, kind, gl.LINEAR);
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.shade = { texture, frame, size, reach: 0, middle: [0, 0, 0], axes: [1, 0, 0, 0, 1, 0, 0, 0, 1] };
  }

  // Draw things as the Sun sees them, about a middle (from the eye) within a reach [m].
  castShade(things, sun, middle, reach) {
    const gl = this.gl, { shade } = this, view = new Float32Array(16);
    const x = unit(cross(Math.abs(sun[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], sun)), rows = [x, cross(sun, x), sun];
    Object.assign(shade, { reach, middle, axes: rows.flat() });
    rows.forEach((row, r) => {
      const sign = r === 2 ? -1 : 1;
      for (let k = 0; k < 3; k++) view[4 * k + r] = (sign * row[k]) / reach;
      view[12 + r] = (-sign * dot(row, middle)) / reach;
    });
    view[15] = 1;
    gl.bindFramebuffer(gl.FRAMEBUFFER, shade.frame);
    gl.viewport(0, 0, shade.size, shade.size);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.depth.made);
    gl.uniformMatrix4fv(this.depth.places.view, false, view);
    for (const { mesh, instances, origin } of things) {
      if (!instances.length) continue;
      gl.uniform3fv(this.depth.places.origin, origin || [0, 0, 0]);
      this.elements(mesh, instances);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  elements(mesh, instances) {
    const gl = this.gl;
    gl.bindVertexArray(mesh.vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, mesh.instances);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(instances), gl.DYNAMIC_DRAW);
    gl.drawElementsInstanced(gl.TRIANGLES, mesh.count, mesh.type, 0, instances.length / 10);
  }

  program(vertex, fragment) {
    const gl = this.gl, made = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
    const places = {}, count = gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS);
    for (let i = 0; i < count; i++) {
      const { name } = gl.getActiveUniform(made, i);
      places[name] = gl.getUniformLocation(made, name);
    }
    return { made, places };
  }

  buffer(data, kind) {
    const gl = this.gl, made = gl.createBuffer();
    gl.bindBuffer(kind || gl.ARRAY_BUFFER, made);
    gl.bufferData(kind || gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    return made;
  }

  // A mesh: vertices (Float64Array), indices; smooth ones have normals and colours of their vertices.
  mesh(vertices, indices, smooth) {
    const gl = this.gl, vao = gl.createVertexArray(), n = vertices.length / 3;
    const made = { vao, count: indices.length, smooth, vertices: n };
    gl.bindVertexArray(vao);
    made.corners = this.buffer(new Float32Array(vertices));
    this.attribute(0, 3, gl.FLOAT, 0, 0);
    if (smooth) {
      this.buffer(vertexNormals(vertices, indices));
      this.attribute(1, 3, gl.BYTE, 4, 0, true);
      made.colours = this.buffer(new Uint8Array(4 * n));
      this.attribute(2, 3, gl.UNSIGNED_BYTE, 4, 0, true);
    }
    const wide = n > 65535, list = wide ? new Uint32Array(indices) : new Uint16Array(indices);
    made.type = wide ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT;
    this.buffer(list, gl.ELEMENT_ARRAY_BUFFER);
    made.instances = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, made.instances);
    this.attribute(3, 3, gl.FLOAT, 40, 0, false, 1);
    this.attribute(4, 4, gl.FLOAT, 40, 12, false, 1);
    if (!smooth) this.attribute(2, 3, gl.FLOAT, 40, 28, false, 1);
    gl.bindVertexArray(null);
    return made;
  }

  attribute(at, size, type, stride, offset, normalised = false, divisor = 0) {
    const gl = this.gl;
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, normalised, stride, offset);
    gl.vertexAttribDivisor(at, divisor);
  }

  recolour(mesh, rgb) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, mesh.colours);
    gl.bufferData(gl.ARRAY_BUFFER, rgb, gl.STATIC_DRAW);
  }

  reshape(mesh, vertices) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, mesh.corners);
    gl.bufferData(gl.ARRAY_BUFFER, vertices, gl.DYNAMIC_DRAW);
  }

  // A line through rows x, y, z, time: two triangles a piece. Not by instances, of which renderers on
  // CPUs make a draw each.
  path(rows) {
    const gl = this.gl, vao = gl.createVertexArray(), count = rows.length / 4 - 1;
    const ends = new Float32Array(32 * Math.max(count, 0)), list = new Uint32Array(6 * Math.max(count, 0));
    for (let i = 0; i < count; i++) {
      for (let k = 0; k < 4; k++) ends.set(rows.subarray(4 * i, 4 * i + 8), 32 * i + 8 * k);
      list.set([0, 1, 2, 2, 1, 3].map((k) => 4 * i + k), 6 * i);
    }
    gl.bindVertexArray(vao);
    this.buffer(ends);
    this.attribute(0, 4, gl.FLOAT, 32, 0);
    this.attribute(1, 4, gl.FLOAT, 32, 16);
    this.buffer(list, gl.ELEMENT_ARRAY_BUFFER);
    gl.bindVertexArray(null);
    return { vao, count };
  }

  // Points with colours and sizes [CSS pixels]: rows x, y, z, r, g, b, size.
  points(rows) {
    const gl = this.gl, vao = gl.createVertexArray();
    gl.bindVertexArray(vao);
    const data = this.buffer(rows);
    this.attribute(0, 3, gl.FLOAT, 28, 0);
    this.attribute(2, 3, gl.FLOAT, 28, 12);
    this.attribute(3, 1, gl.FLOAT, 28, 24);
    gl.bindVertexArray(null);
    return { vao, data, count: rows.length / 7 };
  }

  refill(points, rows) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, points.data);
    gl.bufferData(gl.ARRAY_BUFFER, rows, gl.DYNAMIC_DRAW);
    points.count = rows.length / 7;
  }

  begin(view, width, height, near, ratio) {
    const gl = this.gl;
    Object.assign(this, { view, near, ratio, pixels: [width / 2, height / 2] });
    gl.viewport(0, 0, width, height);
    gl.clearColor(0.043, 0.055, 0.078, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  }

  // Instances: rows place from the eye (3), turn (4), colour (3).
  drawMesh(mesh, instances, look, square) {
    const gl = this.gl, program = look.cloth ? this.cloth : square ? this.cut : this.solid, u = program.places;
    if (!instances.length) return;
    gl.useProgram(program.made);
    gl.uniformMatrix4fv(u.view, false, this.view);
    gl.uniform3fv(u.origin, look.origin || [0, 0, 0]);
    gl.uniform3fv(u.sun, look.sun);
    gl.uniform1f(u.ambient, look.ambient);
    if (u.flat_faces) gl.uniform1f(u.flat_faces, mesh.smooth ? 0 : 1);
    if (u.shade) {
      gl.uniform1i(u.shade, 0);
      gl.bindTexture(gl.TEXTURE_2D, this.shade.texture);
      gl.uniform3fv(u.shade_middle, this.shade.middle);
      gl.uniformMatrix3fv(u.shade_axes, true, this.shade.axes);
      gl.uniform1f(u.shade_reach, look.unshaded ? 0 : this.shade.reach);
    }
    if (square) {
      gl.uniform3fv(u.cut_middle, square.middle);
      gl.uniformMatrix3fv(u.cut_axes, true, square.axes.flat());
      gl.uniform1f(u.cut_half, 0.985 * square.half);
    }
    if (look.cloth) gl.enable(gl.BLEND);
    if (look.closed) gl.enable(gl.CULL_FACE);
    this.elements(mesh, instances);
    gl.disable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
  }

  drawPath(path, offset, now, paint, width) {
    const gl = this.gl, u = this.line.places;
    if (path.count < 1) return;
    gl.useProgram(this.line.made);
    gl.uniformMatrix4fv(u.view, false, this.view);
    gl.uniform3fv(u.offset, offset);
    gl.uniform2fv(u.pixels, this.pixels);
    gl.uniform1f(u.width, 0.5 * width * this.ratio);
    gl.uniform1f(u.near, this.near);
    gl.uniform1f(u.now, now);
    gl.uniform4fv(u.paint, paint);
    gl.enable(gl.BLEND);
    gl.bindVertexArray(path.vao);
    gl.drawElements(gl.TRIANGLES, 6 * path.count, gl.UNSIGNED_INT, 0);
    gl.disable(gl.BLEND);
  }

  drawPoints(points, offset, hollow) {
    const gl = this.gl, u = this.point.places;
    if (!points.count) return;
    gl.useProgram(this.point.made);
    gl.uniformMatrix4fv(u.view, false, this.view);
    gl.uniform3fv(u.offset, offset);
    gl.uniform1f(u.ratio, this.ratio);
    gl.uniform1f(u.hollow, hollow ? 1 : 0);
    gl.bindVertexArray(points.vao);
    gl.drawArrays(gl.POINTS, 0, points.count);
  }
}

// Normals of vertices, weighted by area, in signed bytes.
function vertexNormals(v, f) {
  const sum = new Float64Array(v.length);
  for (let i = 0; i < f.length; i += 3) {
    const [a, b, c] = [3 * f[i], 3 * f[i + 1], 3 * f[i + 2]];
    const ux = v[b] - v[a], uy = v[b + 1] - v[a + 1], uz = v[b + 2] - v[a + 2];
    const wx = v[c] - v[a], wy = v[c + 1] - v[a + 1], wz = v[c + 2] - v[a + 2];
    const x = uy * wz - uz * wy, y = uz * wx - ux * wz, z = ux * wy - uy * wx;
    for (const k of [a, b, c]) { sum[k] += x; sum[k + 1] += y; sum[k + 2] += z; }
  }
  const out = new Int8Array((4 * v.length) / 3);
  for (let i = 0, k = 0; i < v.length; i += 3, k += 4) {
    const n = Math.hypot(sum[i], sum[i + 1], sum[i + 2]) || 1;
    for (let j = 0; j < 3; j++) out[k + j] = Math.round((127 * sum[i + j]) / n);
  }
  return out;
}
