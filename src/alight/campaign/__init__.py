"""Campaigns: many runs of one scenario with what is uncertain varied, kept in a folder."""

from alight.campaign.cluster import Cluster
from alight.campaign.dispersions import sample
from alight.campaign.executors import Executor, Local
from alight.campaign.reader import Campaign, open_campaign
from alight.campaign.run import CampaignInterruptedError, CampaignResult, run_campaign

__all__ = [
    "Campaign",
    "CampaignInterruptedError",
    "CampaignResult",
    "Cluster",
    "Executor",
    "Local",
    "open_campaign",
    "run_campaign",
    "sample",
]
