"""A campaign of a model made in Python: fifty landings on a contact binary, with a report.

The gravity law is the one of ``own_law.py``; no scenario file knows it. What varies is named by the
parts of the model and its release.
"""

import sys

import numpy as np
from own_law import Dumbbell

import alight
from alight import contact, dispersions, engine, flight, surfaces
from alight.shapes.icosphere import icosphere
from alight.views import report

#: The lander comes down on the larger end, a ball [m].
RADIUS, CENTER = 150.0, np.array([-90.0, 0.0, 0.0])


def study() -> alight.Study:
    """A cube released 20 m above the end of the long axis, with a little speed."""
    ball = icosphere(3, RADIUS)
    model = alight.Model(
        gravity=Dumbbell(gm=5.0, share=0.3, distance=300.0),
        surface=surfaces.Sphere(center=CENTER, radius=RADIUS),
        lander=alight.RigidLander.cube(0.2, 1.0),
        contact=contact.Compliant(restitution=0.5, friction=0.6),
        rotation=flight.UniformRotation(2.0 * np.pi / (9.0 * 3600.0)),
        stop=engine.Stop(max_time=2e4),
    )
    return alight.Study(
        model,
        alight.Release(CENTER - (RADIUS + 20.0, 0.0, 0.0)),
        dispersions={
            "release.velocity": dispersions.normal(sigma=0.01),
            "release.attitude": dispersions.orientation(),
            "contact.friction": dispersions.uniform(0.4, 0.8),
            "gravity.share": dispersions.uniform(0.25, 0.35),
        },
        title="A cube on a contact binary",
        seed=1,
        shard=25,
        trajectories=[0],
        body=alight.Mesh(ball.vertices + CENTER, ball.faces),
    )


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "out/own_study"
    result = alight.run_campaign(study(), runs=50, out=folder, show="silent")
    print(result)  # 50 runs in out/own_study: 50 settled
    found = report.write(result.folder, mesh=study().mesh)
    for question, answer in found.answers:
        print(f"{question} {answer}")
    print(f"wrote {found.page}")
