"""Campaigns: many runs of one scenario with what is uncertain varied, kept in a folder."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.campaign.cluster.executor import Cluster
    from alight.campaign.dispersions.sampling import sample
    from alight.campaign.executors import Executor, Local
    from alight.campaign.reader import Campaign, open_campaign
    from alight.campaign.run_or_resume import CampaignInterruptedError, CampaignResult, run_campaign
    from alight.campaign.study.study import Study

__all__ = [
    "Campaign",
    "CampaignInterruptedError",
    "CampaignResult",
    "Cluster",
    "Executor",
    "Local",
    "Study",
    "open_campaign",
    "run_campaign",
    "sample",
]

lazy.door(
    __name__,
    {
        "alight.campaign.cluster.executor": "Cluster",
        "alight.campaign.dispersions.sampling": "sample",
        "alight.campaign.executors": "Executor Local",
        "alight.campaign.reader": "Campaign open_campaign",
        "alight.campaign.run_or_resume": "CampaignInterruptedError CampaignResult run_campaign",
        "alight.campaign.study.study": "Study",
    },
)
