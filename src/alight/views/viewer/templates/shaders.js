// Shaders. Everything comes in metres from the eye, so that single precision suffices nearby.
const SOLID_VERTEX = `#version 300 es
precision highp float;
layout(location=0) in vec3 corner;
layout(location=1) in vec3 normal;
layout(location=2) in vec3 colour;
layout(location=3) in vec3 place;
layout(location=4) in vec4 turn;
uniform mat4 view; uniform vec3 origin;
out vec3 from_eye; out vec3 facing; out vec3 paint;
vec3 turned(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
void main() {
  from_eye = turned(turn, corner + origin) + place;
  facing = turned(turn, normal);
  paint = colour;
  gl_Position = view * vec4(from_eye, 1.0);
}`;
const SOLID_FRAGMENT = (cut) => `#version 300 es
precision highp float;
in vec3 from_eye; in vec3 facing; in vec3 paint;
uniform vec3 sun; uniform float ambient; uniform float flat_faces;
uniform mediump sampler2DShadow shade; uniform vec3 shade_middle; uniform mat3 shade_axes; uniform float shade_reach;
float lit() {
  if (shade_reach <= 0.0) return 1.0;
  vec3 at = shade_axes * (from_eye - shade_middle) / shade_reach;
  if (max(max(abs(at.x), abs(at.y)), abs(at.z)) >= 0.98) return 1.0;
  return texture(shade, vec3(0.5 + 0.5 * at.xy, 0.5 - 0.5 * at.z - 0.004));
}
${cut ? "uniform vec3 cut_middle; uniform mat3 cut_axes; uniform float cut_half;" : ""}
out vec4 shown;
void main() {
  ${cut ? "vec3 here = cut_axes * (from_eye - cut_middle); if (max(max(abs(here.x), abs(here.y)), abs(here.z) * 0.5) < cut_half) discard;" : ""}
  vec3 n = flat_faces > 0.5 ? cross(dFdx(from_eye), dFdy(from_eye)) : facing;
  n = normalize(n);
  if (flat_faces > 0.5 && dot(n, from_eye) > 0.0) n = -n;
  float facing_sun = max(dot(n, sun), 0.0);
  if (facing_sun > 0.0) facing_sun *= lit();
  float fill = ambient * (0.4 + 0.6 * max(dot(n, normalize(-from_eye)), 0.0)); // so that forms are seen at night
  shown = vec4(sqrt(paint * paint * (fill + (1.0 - ambient) * facing_sun)), 1.0);
}`;
const DEPTH_FRAGMENT = `#version 300 es
precision mediump float;
void main() {}`;
const CLOTH_FRAGMENT = `#version 300 es
precision highp float;
in vec3 from_eye; in vec3 facing; in vec3 paint;
uniform vec3 sun; uniform float ambient;
out vec4 shown;
void main() {
  vec3 n = normalize(cross(dFdx(from_eye), dFdy(from_eye)));
  float light = ambient + (1.0 - ambient) * abs(dot(n, sun));
  shown = vec4(sqrt(paint * paint * light), 0.72);
}`;
const LINE_VERTEX = `#version 300 es
precision highp float;
layout(location=0) in vec4 start;
layout(location=1) in vec4 end;
uniform mat4 view; uniform vec3 offset; uniform vec2 pixels; uniform float width; uniform float near;
out float when;
void main() {
  int id = gl_VertexID & 3;
  float along = float(id & 1), side = float(id >> 1) * 2.0 - 1.0;
  vec4 a = view * vec4(start.xyz + offset, 1.0), b = view * vec4(end.xyz + offset, 1.0);
  if (a.w < near && b.w < near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); when = 0.0; return; }
  if (a.w < near) a = mix(b, a, (b.w - near) / (b.w - a.w));
  if (b.w < near) b = mix(a, b, (a.w - near) / (a.w - b.w));
  vec2 p = a.xy / a.w * pixels, q = b.xy / b.w * pixels, way = q - p;
  float size = length(way);
  vec2 across = size > 1e-6 ? vec2(-way.y, way.x) / size : vec2(0.0, 1.0);
  vec4 at = along < 0.5 ? a : b;
  at.xy += across * side * width / pixels * at.w;
  at.z -= 0.0002 * at.w;
  gl_Position = at;
  when = mix(start.w, end.w, along);
}`;
const LINE_FRAGMENT = `#version 300 es
precision highp float;
in float when; uniform float now; uniform vec4 paint;
out vec4 shown;
void main() { shown = vec4(paint.rgb, when <= now ? paint.a : paint.a * 0.45); }`;
const POINT_VERTEX = `#version 300 es
precision highp float;
layout(location=0) in vec3 corner;
layout(location=2) in vec3 colour;
layout(location=3) in float size;
uniform mat4 view; uniform vec3 offset; uniform float ratio;
out vec3 paint; out float radius;
void main() {
  vec3 p = (corner + offset) * 0.985;
  gl_Position = view * vec4(p, 1.0);
  radius = size * ratio;
  gl_PointSize = radius + 2.0 * ratio;
  paint = colour;
}`;
const POINT_FRAGMENT = `#version 300 es
precision highp float;
in vec3 paint; in float radius; uniform float hollow;
out vec4 shown;
void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  float r = length(p);
  if (r > 1.0) discard;
  float rim = 1.0 - 3.2 / (radius + 2.0);
  if (hollow > 0.5) {
    if (r < 1.0 - 5.0 / (radius + 2.0)) discard;
    shown = vec4(paint, 1.0);
  } else shown = vec4(r > rim ? vec3(0.04, 0.05, 0.07) : paint, 1.0);
}`;
