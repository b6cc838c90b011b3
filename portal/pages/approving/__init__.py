"""Pages round requests: changing one, leases, deputies, the policy."""
