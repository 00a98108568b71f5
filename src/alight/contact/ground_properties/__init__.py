"""Ground whose contact properties vary over the body: maps and regions."""
