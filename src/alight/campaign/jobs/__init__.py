"""What computing a shard means for each kind of scenario."""
