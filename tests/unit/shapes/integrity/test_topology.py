"""Pieces of a graph, beside SciPy's."""

import numpy as np
import pytest
import scipy

from alight.shapes.integrity.topology import label_pieces


def scipys(n, one, other):
    links = scipy.sparse.coo_matrix((np.ones(len(one)), (one, other)), shape=(n, n))
    return scipy.sparse.csgraph.connected_components(links, directed=False)


@pytest.mark.parametrize("n", [1, 2, 7, 300])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0, 3.0])
def test_random_links(n, share):
    one, other = np.random.default_rng(n).integers(0, n, (2, int(share * n)))
    count, label = label_pieces(n, one, other)
    assert (count, label.tolist()) == (scipys(n, one, other)[0], scipys(n, one, other)[1].tolist())


def test_a_chain_in_any_order_is_one_piece():
    order = np.random.default_rng(1).permutation(2000)
    assert label_pieces(2000, order[1:], order[:-1])[0] == 1
    assert label_pieces(2001, order[1:], order[:-1])[0] == 2
