"""URDF files: what is read, what is passed over, and errors with their lines."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from alight.core.errors import FileError, InputError
from alight.vehicles import read_urdf

MASS = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'

FULL = f"""<robot name="probe">
  <material name="grey"><color rgba="1 1 1 1"/></material>
  <link name="bus">
    <inertial>
      <origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 1.1"/>
      <mass value="50"/>
      <inertia ixx="4" ixy="0.1" ixz="0.2" iyy="5" iyz="-0.3" izz="6"/>
    </inertial>
    <visual><geometry><mesh filename="bus.dae"/></geometry></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="panel">{MASS}</link>
  <link name="leg">{MASS}</link>
  <link name="ball">{MASS}</link>
  <link name="pod">{MASS}</link>
  <link name="plate"/>
  <joint name="hinge" type="revolute">
    <parent link="bus"/><child link="panel"/>
    <origin xyz="1 2 3" rpy="0.5 0.6 -0.7"/>
    <axis xyz="0 2 0"/>
    <limit lower="-1" upper="0.5" effort="5" velocity="1"/>
    <dynamics damping="0.3" friction="0.2"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="bus"/><child link="leg"/><limit upper="0.2" effort="1" velocity="1"/>
  </joint>
  <joint name="socket" type="spherical"><parent link="bus"/><child link="ball"/></joint>
  <joint name="loose" type="floating"><parent link="bus"/><child link="pod"/></joint>
  <joint name="weld" type="fixed"><parent link="leg"/><child link="plate"/></joint>
  <transmission name="t"/><gazebo/>
</robot>
"""


def written(tmp_path, text):
    path = tmp_path / "probe.urdf"
    path.write_text(text)
    return path


def test_everything_that_is_read(tmp_path):
    path = written(tmp_path, FULL)
    tree = read_urdf(path, hinge_stop=(9.0, 1.0), slide_stop=(8.0, 2.0))
    joints = {joint.name: joint for joint in tree.joints}
    kinds = {name: joint.kind for name, joint in joints.items()}
    assert kinds == {
        "bus to the world": "free",
        "hinge": "revolute",
        "slide": "prismatic",
        "socket": "spherical",
        "loose": "free",
        "weld": "fixed",
    }
    hinge, slide = joints["hinge"], joints["slide"]
    turn = Rotation.from_euler("xyz", (0.5, 0.6, -0.7)).as_quat()  # about fixed axes
    assert abs(hinge.turn @ turn) == pytest.approx(1.0, abs=1e-14)
    assert hinge.place == pytest.approx([1, 2, 3])
    assert hinge.axis == pytest.approx([0, 1, 0])
    assert (hinge.lower, hinge.upper, hinge.stop_stiffness, hinge.stop_damping) == (-1, 0.5, 9, 1)
    assert (hinge.damping, hinge.friction) == (0.3, 0.2)
    assert (slide.lower, slide.upper, slide.stop_stiffness) == (0.0, 0.2, 8.0)
    assert slide.axis == pytest.approx([1, 0, 0])  # the default of the format
    bus = tree.bodies[tree.index("bus")]
    R = Rotation.from_euler("xyz", (0.3, -0.2, 1.1)).as_matrix()
    tensor = np.array([[4, 0.1, 0.2], [0.1, 5, -0.3], [0.2, -0.3, 6]])
    assert bus.inertia == pytest.approx(R @ tensor @ R.T, rel=1e-13)
    assert bus.center == pytest.approx([0.1, 0.2, 0.3])
    assert tree.bodies[tree.index("plate")].mass == 0.0
    assert tree.name == "probe"


def test_base_and_limits(tmp_path):
    path = written(tmp_path, FULL)
    tree = read_urdf(path, base="fixed", ignore_limits=True)
    assert tree.joints[0].kind == "fixed"
    assert np.isinf([joint.upper for joint in tree.joints]).all()
    with pytest.raises(InputError, match=r'line 21: joint "hinge" has limits.*hinge_stop='):
        read_urdf(path)
    with pytest.raises(InputError, match=r'line 25: joint "slide" has limits.*slide_stop='):
        read_urdf(path, hinge_stop=(1.0, 0.0))
    with pytest.raises(InputError, match="base is 'loose'; the root link is held \"free\""):
        read_urdf(path, base="loose")


def changed(old, new):
    assert FULL.count(old) >= 1
    return FULL.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("<robot", "probe.urdf: this is not an XML file"),
        ("<sdf/>", "line 1: the file holds a <sdf>; a URDF has <robot>"),
        (
            changed('<axis xyz="0 2 0"/>', '\n<mimic joint="slide"/>'),
            "line 21: unknown element <mimic> in <joint>.*Read: parent.*passed over",
        ),
        (
            changed("<inertial>", "<inertail>").replace("</inertial>", "</inertail>", 1),
            'unknown element <inertail>.*Did you mean "inertial"',
        ),
        (changed('type="revolute"', 'type="planar"'), 'line 17: joint "hinge" has type "planar"'),
        (changed('type="revolute"', 'type="revolut"'), 'Did you mean "revolute"'),
        (changed('<axis xyz="0 2 0"/>', '<axis xyz="0 2"/>'), 'xyz="0 2" of <axis> must be 3'),
        (changed('<axis xyz="0 2 0"/>', '<axis xyz="0 2 up"/>'), "must be 3 finite numbers"),
        (changed('<axis xyz="0 2 0"/>', '<axis xyz="0 0 0"/>'), 'axis of joint "hinge".*direction'),
        (changed('<axis xyz="0 2 0"/>', '<axis dir="0 2 0"/>'), 'unknown attribute "dir"'),
        (changed('lower="-1"', 'lower="1"'), "line 21: the limits .* 1 to 0.5"),
        (changed('<limit lower="-1" upper="0.5" effort="5" velocity="1"/>', ""), "type continuous"),
        (
            changed('<child link="ball"/>', '<child link="ball"/><limit upper="1"/>'),
            'line 27: joint "socket" is spherical and has the limit upper',
        ),
        (
            changed('<child link="pod"/>', '<child link="pod"/><dynamics damping="1"/>'),
            'line 28: joint "loose" is floating and has <dynamics>',
        ),
        (changed('<child link="panel"/>', ""), 'line 17: joint "hinge" needs a <child'),
        (changed('<child link="panel"/>', '<child link="pannel"/>'), 'Did you mean "panel"'),
        (changed('<child link="panel"/>', '<child link="leg"/>'), "two joints"),
        (changed('<mass value="50"/>', ""), "line 4: <inertial> needs a <mass>"),
        (changed('<mass value="50"/>', "<mass/>"), 'line 6: <mass> needs the attribute "value"'),
        (changed('<mass value="50"/>', '<mass value="1"/><mass value="2"/>'), "a second <mass>"),
        (changed('<mass value="50"/>', '<mass value="-5"/>'), 'mass of body "bus"'),
        (changed('izz="6"', 'izz="60"'), "largest exceeds the sum"),
        (changed('<link name="plate"/>', '<link name="leg"/>'), 'two bodies named "leg"'),
    ],
)
def test_files_that_cannot_be_read(tmp_path, text, match):
    with pytest.raises(InputError, match=match):
        read_urdf(written(tmp_path, text), hinge_stop=(9.0, 1.0), slide_stop=(8.0, 2.0))


def test_a_loop_has_no_root(tmp_path):
    text = f"""<robot name="ring"><link name="a">{MASS}</link><link name="b">{MASS}</link>
    <joint name="x" type="fixed"><parent link="a"/><child link="b"/></joint>
    <joint name="y" type="fixed"><parent link="b"/><child link="a"/></joint></robot>"""
    with pytest.raises(InputError, match="loop"):
        read_urdf(written(tmp_path, text))


def test_no_such_file(tmp_path):
    with pytest.raises(FileError, match="cannot read the URDF file"):
        read_urdf(tmp_path / "none.urdf")


# -- files made to harm -------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-7", "shift_jis", "idna", "rot13", "no-such", "punycode"])
def test_an_encoding_that_no_robot_has(tmp_path, encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?>{FULL}'
    with pytest.raises(InputError, match=r"probe.urdf: (its encoding|this is not an XML file)"):
        read_urdf(written(tmp_path, text))


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16", "ISO-8859-1", "cp1252"])
def test_encodings_that_are_read(tmp_path, encoding):
    path = tmp_path / "probe.urdf"
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{FULL}'.encode(encoding))
    assert read_urdf(path, ignore_limits=True).count == 6


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('ixx="4"', 'ixx="1e308"', r'line 7: ixx="1e308" of <inertia> must be 1 .*1e\+30 at most'),
        ('<mass value="50"/>', '<mass value="1e308"/>', 'value="1e308"'),
        ('xyz="0.1 0.2 0.3"', 'xyz="1e200 0 0"', 'line 5: xyz="1e200 0 0"'),
        ('xyz="0.1 0.2 0.3"', f'xyz="{"1 " * 10_000}"', "line 5: a name or value of 20000 char"),
        ('damping="0.3"', 'damping="-1e300"', "line 22: damping"),
    ],
)
def test_numbers_beyond_reckoning(tmp_path, old, new, said):
    with pytest.raises(InputError, match=said) as caught:
        read_urdf(written(tmp_path, changed(old, new)), ignore_limits=True)
    assert len(str(caught.value)) < 500


def star(links, joints):
    parts = [f'<link name="l{i}">{MASS}</link>' for i in range(links)]
    for i in range(1, joints + 1):
        parts.append(
            f'<joint name="j{i}" type="fixed"><parent link="l0"/><child link="l{i}"/></joint>'
        )
    return f'<robot name="star">{"".join(parts)}</robot>'


@pytest.mark.parametrize(("links", "joints"), [(3000, 2999), (2, 3000)])
def test_more_parts_than_a_tree_may_have(tmp_path, links, joints):
    with pytest.raises(InputError, match='tree "star" has 3000 bodies; a tree has at most 1000'):
        read_urdf(written(tmp_path, star(links, joints)))


LAUGHS = """<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<robot name="&b;"/>"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LAUGHS, "line 1: an entity is declared"),
        ("<robot>" + "<visual>" * 5000 + "</visual>" * 5000 + "</robot>", "at most .*100 deep"),
        ("<robot>" + "<gazebo/>" * 200_000 + "</robot>", "has at most 200000"),
        ("<" + "r" * 5_000_000 + "/>", "line 1: a name or value of 5000000 characters"),
    ],
)
def test_files_that_would_not_end(tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        read_urdf(written(tmp_path, text))


def test_a_file_of_more_bytes_than_robots_have(tmp_path):
    path = written(tmp_path, "<robot>")
    with path.open("ab") as file:
        file.truncate(10**12)
    with pytest.raises(FileError, match="has 1000 GB, and at most 10 MB are read"):
        read_urdf(path)
