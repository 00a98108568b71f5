"""MuJoCo Warp's side of the comparison with other engines: the same model, many worlds at once."""

from typing import Any

import numpy as np

from benchmarks import peers_cube as cube
from benchmarks.peers_mujoco import Setting, model, qpos, qvel, states_of

#: Contacts and rows of constraints that a world may have: a face on the ground has 4 and 12.
CONTACTS, ROWS = 8, 24
#: Tolerance of the solver. MuJoCo Warp raises what a model asks for to 1e-6, of the order of 1 % of
#: the weight here; float32 has no more than this to give.
TOLERANCE = 1e-9
#: Steps that one graph of launches has at most.
GRAPH = 50


class Batch:
    """Cubes in MuJoCo Warp, a world each, on a GPU (or on Warp's CPU device, to try)."""

    precision = "float32"

    def __init__(
        self, mujoco: Any, mujoco_warp: Any, device: str, setting: Setting, states: cube.States,
        gravity: Any = None, body: str = "cube",
    ) -> None:  # fmt: skip
        import warp as wp

        self._wp, self._engine, self.device, self.setting = wp, mujoco_warp, device, setting
        self._graphs: dict[int, Any] = {}
        plain = model(
            mujoco, setting, np.atleast_2d(gravity)[0] if gravity is not None else None, body
        )
        with wp.ScopedDevice(device):
            self._model = mujoco_warp.put_model(plain)
            self._model.opt.tolerance.fill_(TOLERANCE)
            if np.ndim(gravity) == 2:  # a world each
                self._model.opt.gravity = wp.array(gravity.astype(np.float32), dtype=wp.vec3)
            self._data = mujoco_warp.make_data(
                plain, nworld=len(states), nconmax=CONTACTS, njmax=ROWS
            )
            self._data.qpos.assign(qpos(states).astype(np.float32))
            self._data.qvel.assign(qvel(states).astype(np.float32))

    def ready(self, steps: int) -> None:
        """Compile, and make the graph of so many steps, before anything is timed."""
        if self.device != "cpu":
            with self._wp.ScopedDevice(self.device):
                self._graph(min(steps, GRAPH))

    def advance(self, steps: int, moving: np.ndarray) -> None:
        """Take so many steps with all of them: worlds of a batch go together."""
        with self._wp.ScopedDevice(self.device):
            if self.device == "cpu":
                self._take(steps)
            else:
                for _ in range(steps // GRAPH):
                    self._wp.capture_launch(self._graph(GRAPH))
                if steps % GRAPH:
                    self._wp.capture_launch(self._graph(steps % GRAPH))
            self._wp.synchronize_device(self.device)

    def _take(self, steps: int) -> None:
        for _ in range(steps):
            self._engine.step(self._model, self._data)

    def _graph(self, steps: int) -> Any:
        """So many steps as one graph of launches: what MuJoCo Warp's own benchmark runs."""
        if steps not in self._graphs:
            start = self._data.qpos.numpy(), self._data.qvel.numpy()
            self._take(1)  # kernels are compiled, memory is taken
            self._data.qpos.assign(start[0])
            self._data.qvel.assign(start[1])
            with self._wp.ScopedCapture() as capture:
                self._take(steps)
            self._graphs[steps] = capture.graph
        return self._graphs[steps]

    def states(self) -> cube.States:
        """Where they are now."""
        found = self._data.qpos.numpy(), self._data.qvel.numpy()
        return states_of(*(a.astype(np.float64) for a in found))
