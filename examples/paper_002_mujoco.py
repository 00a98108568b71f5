"""The landing of paper 002 in Alight and in MuJoCo, over each other, as the paper did with Adams.

The lander is written again for MuJoCo: bodies, joints and springs in its own XML, the liquid on one
body with two hinges. MuJoCo gives accelerations; SciPy's DOP853 integrates them. Its own contact is
made for robots (it cannot push as k d^1.5 + c d'), so that ground, friction, crushables and
thrusters are written once more here, with NumPy, and applied as forces. Nothing of Alight is used
on that side but the tables of the paper. The ground is a plane and gravity is uniform.

Run it with:  python examples/paper_002_mujoco.py [FOLDER]   (out/paper_002 if none)
"""

import sys
from pathlib import Path

import numpy as np
from scipy.integrate import DOP853

from alight.vehicles import dcap

YIELD, RELAX = 2e-3, 2e-3  # of the crushables: stroke to the crush force [m], damping/stiffness [s]


def turning(angles):
    """Matrix of Euler angles 1-2-3 [deg]."""
    a, b, c = np.radians(angles)
    x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    z = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return x @ y @ z


def point_inertia(mass, place):
    """Of a point about the origin [kg m^2]."""
    return mass * (place @ place * np.eye(3) - np.outer(place, place))


def text(values):
    """Numbers as MuJoCo reads them."""
    return " ".join(repr(float(v)) for v in np.ravel(values))


def full(tensor):
    """Six numbers of an inertia in MuJoCo's order."""
    t = np.asarray(tensor)
    return text([t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2]])


class Peer:
    """The lander in MuJoCo, with ground, crushables and thrusters as forces."""

    def __init__(self, mujoco, gravity, ground, leg_mass=5.0, crush=400.0, limit=0.2, thrust=5.0):
        self.mujoco = mujoco
        self.k, self.c, self.mu = ground["stiffness"], ground["damping"], ground["friction"]
        self.crush, self.limit, self.thrust = crush, limit, thrust
        self.stiffness = crush / YIELD
        self.damping = RELAX * self.stiffness
        self.on = 0.0
        self.model = mujoco.MjModel.from_xml_string(self._xml(gravity, leg_mass))
        self.data = mujoco.MjData(self.model)
        self.legs = [self.model.body(f"leg {i + 1}").id for i in range(3)]
        self.pads = [self.model.site(f"pad {i + 1}").id for i in range(3)]
        self.bus = self.model.body("body").id
        # The grip of a pad: an eighth of a hit at 1 m/s, for the least mass along the ground.
        hit = 2.943275184324 * (1.25 * leg_mass / self.k) ** 0.4
        mass = min(self.mass_along(site) for site in self.pads)
        self.grip, self.drag = mass * (8.0 / hit) ** 2, mass * 8.0 / hit

    def _xml(self, gravity, leg_mass):
        ends = zip(dcap.PADS, dcap.CRUSHABLES, strict=True)
        lengths = [np.linalg.norm(np.subtract(p, c)) for p, c in ends]
        turns = [turning(a) for a in dcap.ANGLES]
        down = np.array([0.0, -1.0, 0.0])
        rods = [leg_mass * n**2 / 12.0 * np.diag([1.0, 0.0, 1.0]) for n in lengths]
        parts = list(zip(dcap.CRUSHABLES, lengths, turns, strict=True))
        middles = [np.add(c, 0.5 * n * R @ down) for c, n, R in parts]
        hang = np.array([0.0, dcap.PIVOT - dcap.ARM, 0.0])
        mass = dcap.MASS - 3.0 * leg_mass - dcap.LIQUID
        centre = -(leg_mass * sum(middles) + dcap.LIQUID * hang) / mass
        inertia = np.array(dcap.INERTIA) - point_inertia(dcap.LIQUID, hang)
        for R, rod, middle in zip(turns, rods, middles, strict=True):
            inertia -= R @ rod @ R.T + point_inertia(leg_mass, middle)
        inertia -= point_inertia(mass, centre)
        legs = ""
        for i, (place, n, R) in enumerate(parts):
            # A rod has no inertia about its own axis, and MuJoCo asks for one: it never turns.
            thick = np.diag([1.0, 1e-9, 1.0]) * rods[i][0, 0]
            legs += f"""
      <body name="leg {i + 1}" pos="{text(place)}" xyaxes="{text([R[:, 0], R[:, 1]])}">
        <joint name="slide {i + 1}" type="slide" axis="0 1 0"/>
        <inertial pos="{text((0.0, -0.5 * n, 0.0))}" mass="{leg_mass}" fullinertia="{full(thick)}"/>
        <site name="pad {i + 1}" pos="{text((0.0, -n, 0.0))}"/>
      </body>"""
        swing = f'type="hinge" stiffness="{dcap.SWING_STIFFNESS}" damping="{dcap.SWING_DAMPING}"'
        return f"""
<mujoco>
  <option gravity="{text(gravity)}" integrator="RK4"><flag contact="disable"/></option>
  <worldbody>
    <body name="body">
      <freejoint name="free"/>
      <inertial pos="{text(centre)}" mass="{text(mass)}" fullinertia="{full(inertia)}"/>{legs}
      <body name="liquid" pos="0 {dcap.PIVOT} 0">
        <joint name="swing x" axis="1 0 0" {swing}/>
        <joint name="swing z" axis="0 0 1" {swing}/>
        <inertial pos="0 {-dcap.ARM} 0" mass="{dcap.LIQUID}" diaginertia="1e-9 1e-9 1e-9"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""

    def mass_along(self, site):
        """Smallest mass that a pad has along the ground [kg]."""
        m, d, mujoco = self.model, self.data, self.mujoco
        mujoco.mj_forward(m, d)
        jacobian = np.zeros((3, m.nv))
        mujoco.mj_jacSite(m, d, jacobian, None, site)
        across = np.ascontiguousarray(jacobian[[0, 2]])
        moved = np.zeros_like(across)
        mujoco.mj_solveM(m, d, moved, across)
        return 1.0 / np.linalg.eigvalsh(across @ moved.T)[-1]

    def start(self, height, speed, tilt):
        """State: place, quaternion wxyz, strokes, swings; velocities; crushed strokes; give of each
        pad along the ground."""
        q = [0.0, height, 0.0, np.cos(tilt / 2), 0.0, 0.0, np.sin(tilt / 2), *np.zeros(5)]
        return np.concatenate([q, [0.0, -speed, 0.0], np.zeros(8), np.zeros(3), np.zeros(6)])

    def forces(self, y):
        """Set the state; crush forces, the ground's (3, 3), rates of crushed strokes and gives."""
        m, d, mujoco = self.model, self.data, self.mujoco
        d.qpos[:], d.qvel[:] = y[:12], y[12:23]
        mujoco.mj_fwdPosition(m, d)
        mujoco.mj_fwdVelocity(m, d)
        trial = self.stiffness * (y[7:10] - y[23:26]) + self.damping * y[18:21]
        gives = (trial > self.crush) & (y[23:26] < self.limit)
        rate = np.where(gives, (trial - self.crush) / self.damping, 0.0)
        push, given = np.zeros((3, 3)), y[26:32].reshape(3, 2)
        giving = -self.grip / self.drag * given  # off the ground, what was given comes back
        jacobian = np.zeros((3, m.nv))
        for i, site in enumerate(self.pads):
            depth = -d.site_xpos[site][1]
            if depth > 0.0:
                mujoco.mj_jacSite(m, d, jacobian, None, site)
                u = jacobian @ d.qvel
                normal = max(0.0, self.k * depth**1.5 - self.c * u[1])
                back = self.grip * given[i] + self.drag * u[[0, 2]]
                back *= min(1.0, self.mu * normal / max(np.linalg.norm(back), 1e-300))
                giving[i] = (back - self.grip * given[i]) / self.drag
                push[i] = -back[0], normal, -back[1]
        return np.where(gives, self.crush, trial), push, np.concatenate([rate, giving.ravel()])

    def slope(self, t, y):
        """Time derivative of the state."""
        m, d, mujoco = self.model, self.data, self.mujoco
        crush, push, rates = self.forces(y)
        d.qfrc_applied[:] = 0.0
        d.qfrc_applied[6:9] = -crush
        for leg, site, force in zip(self.legs, self.pads, push, strict=True):
            at = d.site_xpos[site]
            mujoco.mj_applyFT(m, d, force, np.zeros(3), at, leg, d.qfrc_applied)
        if self.on:
            # Four thrusters on the corners of a square push as one at its middle.
            up = d.xmat[self.bus].reshape(3, 3)[:, 1]
            at = d.xpos[self.bus] + up
            thrust = -4.0 * self.thrust * up
            mujoco.mj_applyFT(m, d, thrust, np.zeros(3), at, self.bus, d.qfrc_applied)
        mujoco.mj_forward(m, d)
        w, (a, b, c, e) = y[15:18], y[3:7]
        turn = 0.5 * np.array([
            -b * w[0] - c * w[1] - e * w[2], a * w[0] + c * w[2] - e * w[1],
            a * w[1] + e * w[0] - b * w[2], a * w[2] + b * w[1] - c * w[0],
        ])  # fmt: skip
        return np.concatenate([y[12:15], turn, y[18:23], d.qacc, rates])

    def land(self, y, until, tolerance=1e-8):
        """Times and states at the ends of steps; thrusters come on at the first touch."""
        t, times, states = 0.0, [0.0], [y]
        self.on = 0.0
        while t < until:
            solver = DOP853(self.slope, t, y, until, max_step=4e-3, rtol=tolerance, atol=tolerance)
            while solver.status == "running":
                solver.step()
                times.append(solver.t)
                states.append(solver.y)
                if not self.on and self.forces(solver.y)[1][:, 1].any():
                    self.on = 1.0
                    break
            t, y = solver.t, np.array(solver.y)
        return np.array(times), np.array(states)


def compare(mujoco, until=4.0, tolerance=1e-8):
    """Alight's solution; MuJoCo's times, states, crush forces and pushes of the ground."""
    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here))
    import paper_002 as paper

    from alight.engine import simulate
    from alight.motions import TreeSteps, TreeStop

    # Short steps: what is compared lies between them.
    stop, steps = TreeStop(max_time=until), TreeSteps(tolerance=1e-8, longest=1e-3)
    ours = simulate(*paper.landing(flat=True, stop=stop, steps=steps))
    peer = Peer(mujoco, (0.0, -paper.GRAVITY, 0.0), paper.GROUND)
    times, states = peer.land(peer.start(paper.HEIGHT, paper.SPEED, paper.TILT), until, tolerance)
    found = [peer.forces(y) for y in states]
    return ours, times, states, np.array([f[0] for f in found]), np.array([f[1] for f in found])


def curves(ours, times, states, crush, push):
    """(name, unit, ours at MuJoCo's times, MuJoCo's) of what is compared.

    The force on a pad jumps by c d' as it touches: 1 ms about each touch is left out.
    """

    def at(values):
        return np.stack([np.interp(times, ours.time, row) for row in np.asarray(values).T], axis=1)

    pads = at(ours.pad_normal_force)
    pressed = ours.pad_normal_force > 0.0
    touch = ours.time[1:][(pressed[1:] & ~pressed[:-1]).any(axis=1)]
    pads[(np.abs(times[:, None] - touch) < 1e-3).any(axis=1)] = np.nan
    return [
        ("Velocity of the body", "m/s", at(ours.v[:, :3]), states[:, 12:15]),
        ("Rate of the body", "rad/s", at(ours.v[:, 3:6]), states[:, 15:18]),
        ("Force of the crushables", "N", at(ours.crush_force), crush),
        ("Normal force on the pads", "N", pads, push[:, :, 1]),
        ("Swing of the liquid", "deg", np.degrees(at(swings(ours))), np.degrees(states[:, 10:12])),
    ]


def swings(ours):
    """(n, 2) angles of the liquid about x and z [rad]."""
    import paper_002 as paper

    return paper.slosh_angles(ours)


def draw(parts, times, file):
    """Both over each other, and their differences."""
    import paper_002 as paper

    from alight.views import style

    with style.figure(12.0, 10.0) as fig:
        grid = fig.add_gridspec(len(parts), 2, width_ratios=[1.5, 1.0])
        for row, (name, unit, ours, theirs) in enumerate(parts):
            both, apart = (fig.add_subplot(grid[row, k]) for k in (0, 1))
            legs = "force" in name.lower()
            labels = ("leg 1", "leg 2", "leg 3") if legs else ("x", "y", "z")
            if name.startswith("Swing"):
                labels = ("about x", "about z")
            for k, label in enumerate(labels):
                colour = paper.COLOURS[k]
                both.plot(times, ours[:, k], color=colour, lw=3.0, alpha=0.45, label=label)
                both.plot(times, theirs[:, k], color=style.INK, lw=0.8, ls="--",
                          label="MuJoCo" if k == len(labels) - 1 else None)  # fmt: skip
                apart.plot(times, ours[:, k] - theirs[:, k], color=colour, lw=0.9)
            both.set_title(name, loc="left")
            both.set_ylabel(f"[{unit}]")
            largest = np.nanmax(np.abs(ours - theirs))
            apart.set_title(f"difference, at most {largest:.1e} {unit}", loc="left", fontsize=9)
            both.legend(frameon=False, ncols=4, loc="upper right", fontsize="small")
            low, high = both.get_ylim()
            both.set_ylim(low, high + 0.25 * (high - low))
            for axes in (both, apart):
                axes.set_xlim(times[0], times[-1])
                axes.spines[["top", "right"]].set_visible(False)
                axes.tick_params(labelbottom=row == len(parts) - 1)
                if row == len(parts) - 1:
                    axes.set_xlabel("time [s]")
        fig.subplots_adjust(
            left=0.06, right=0.985, bottom=0.05, top=0.965, hspace=0.35, wspace=0.16
        )
        style.save(fig, file)


def main(folder: Path) -> None:
    """Land twice, compare and draw."""
    import mujoco

    found = compare(mujoco)
    parts = curves(*found)
    for name, unit, ours, theirs in parts:
        most, size = np.nanmax(np.abs(ours - theirs)), np.abs(theirs).max()
        print(f"{name}: differ by {most:.2e} {unit} at most, of {size:.4g}")
    draw(parts, found[1], folder / "mujoco.png")
    print(f"wrote {folder / 'mujoco.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/paper_002"))
