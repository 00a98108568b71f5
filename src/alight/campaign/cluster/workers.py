"""The workers of a Dask cluster: who is there, and whether they would make the same tables."""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Iterable, Mapping
from typing import Any

from alight.campaign.cluster.worker_task import (
    SAFE,
    ClusterError,
    devices_here,
    versions_here,
)
from alight.core.errors import AlightError, DeviceError

# Workers that a message names; the rest is counted.
_NAMED = 3


class Crew:
    """The workers of a client's scheduler, each looked at once before it is given work."""

    def __init__(
        self, client: Any, patience: float, device: str = "cpu", extensions: Iterable[str] = ()
    ) -> None:
        self._client, self._patience, self._device = client, patience, device
        self._versions = versions_here(extensions)
        self._devices: dict[str, list[str]] = {}
        self._seen = time.monotonic()

    def wait(self) -> None:
        """Until there is a worker."""
        while not self.present():
            time.sleep(0.1)

    def present(self) -> list[str]:
        """Addresses of the workers; an error for one that does not fit, or if none ever comes."""
        if self._client.status != "running":
            raise self.lost()
        try:
            here = list(self._client.nthreads())
            new = [address for address in here if address not in self._devices]
            if new:
                self._devices.update(self._looked_at(new))
        except OSError as cause:
            raise self.lost(cause) from cause
        fit = [address for address in here if address in self._devices]
        now = time.monotonic()
        if fit:
            self._seen = now
        elif now - self._seen >= self._patience:
            raise self._alone()
        return fit

    def all_have(self, device: str) -> bool:
        """Whether every worker that is there has a device."""
        return all(device in self._devices[address] for address in self.present())

    def look_again(self) -> None:
        """An error if any worker does not fit, also one that did before."""
        self._devices.clear()
        self.present()

    def lost(self, cause: object = None) -> ClusterError:
        """An error for a scheduler that has gone."""
        reason = f" ({cause})" if str(cause or "").strip() else ""
        return ClusterError(
            f"the Dask scheduler {self._address} was reached before, and now the connection is "
            f"lost{reason}: it has ended, was restarted, or the network is down. Start it again "
            f"where it has ended. {SAFE}"
        )

    @property
    def _address(self) -> str:
        return str(getattr(getattr(self._client, "scheduler", None), "address", "") or "")

    def _alone(self) -> ClusterError:
        return ClusterError(
            f"the Dask scheduler {self._address} has no worker that could be used, and none came "
            f"within {self._patience:g} s. Start some (dask worker {self._address or 'ADDRESS'}) "
            f"and see in their logs that they stay. {SAFE}"
        )

    def _looked_at(self, addresses: list[str]) -> dict[str, list[str]]:
        """Devices of new workers; those that leave meanwhile are left out."""
        wanted, wrong = self._versions, dict[str, str]()
        for name in wanted:
            for address, found in self._ask(importlib.metadata.version, addresses, name).items():
                if isinstance(found, Exception):
                    wrong.setdefault(address, f"has no {name} installed")
                elif found != wanted[name]:
                    wrong.setdefault(address, f"has {name} {found} where {wanted[name]} is here")
        self._refuse_versions(wrong)
        found = self._ask(devices_here, addresses)
        self._refuse_broken({a: str(it) for a, it in found.items() if isinstance(it, Exception)})
        self._refuse_devices(found)
        return found

    def _ask(self, function: Any, addresses: list[str], *args: Any) -> dict[str, Any]:
        """What a function gives, or raises, on each worker that is still there."""
        answers = self._client.run(function, *args, workers=addresses, on_error="return")
        return {a: x for a, x in answers.items() if isinstance(x, AlightError) or not _gone(x)}

    def _refuse_broken(self, wrong: Mapping[str, str]) -> None:
        if wrong:
            raise ClusterError(
                f"workers of the Dask scheduler {self._address} cannot load alight: "
                f"{_listed(wrong)}. It is installed there, so fix what the message names (python "
                f'-c "import alight.campaign" on that machine shows all of it). {SAFE}'
            )

    def _refuse_versions(self, wrong: Mapping[str, str]) -> None:
        if wrong:
            same = " ".join(f'"{name}=={version}"' for name, version in self._versions.items())
            raise ClusterError(
                f"workers of the Dask scheduler {self._address} do not fit, and tables of "
                f"different programs cannot be one: {_listed(wrong)}. Give every worker what this "
                f"process has (pip install {same}) and start it again, or start the campaign "
                f"where the versions are theirs. {SAFE}"
            )

    def _refuse_devices(self, found: Mapping[str, list[str]]) -> None:
        wrong = {
            address: f"has {', '.join(names)}"
            for address, names in found.items()
            if self._device not in names
        }
        if wrong:
            raise DeviceError(
                f'device "{self._device}" is asked for, and not every worker has it: '
                f"{_listed(wrong)}. Take device cpu, or workers of one kind. {SAFE}"
            )


def _gone(answer: object) -> bool:
    """Whether a worker's answer only says that it has left."""
    return isinstance(answer, OSError)


def _listed(wrong: Mapping[str, str]) -> str:
    """Workers and what is wrong with them; of many, the first."""
    named: Iterable[tuple[str, str]] = list(wrong.items())[:_NAMED]
    text = "; ".join(f"{address}: {what}" for address, what in named)
    more = len(wrong) - _NAMED
    return f"{text}; and {more} more" if more > 0 else text
