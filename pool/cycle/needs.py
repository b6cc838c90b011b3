"""From a need as people and rows say it to the claim the planner reads."""

from nodeagent.protocol.vocabulary import Isolation, Vendor
from pool.carving.needs import modes_of
from pool.rules.needs import Need
from pool.scheduling import claims


def claim_of(
    need: Need,
    *,
    unlimited_modes: bool = False,
    default_cpu_milli: int = 0,
    default_ram_mib: int = 0,
    default_disk_mib: int = 0,
    runner: str = "process",
) -> claims.Need:
    """The planner's need; the defaults are for all parts together where the need names none."""
    return claims.Need(
        parts=need.parts,
        nodes=need.nodes,
        whole=need.whole,
        memory_gb=need.memory_gb,
        memory_mib=need.memory_mib,
        compute_milli=need.compute_milli,
        share_milli=need.share_milli,
        proportional=need.proportional,
        profile=need.profile,
        min_size_gb=need.min_size_gb,
        modes=modes_of(need, unlimited_modes=unlimited_modes),
        vendors=frozenset(Vendor(one) for one in need.vendors),
        labels=frozenset(need.labels),
        architectures=frozenset(need.architectures),
        isolation=Isolation(need.isolation) if need.isolation else None,
        encoder=need.encoder,
        encoder_units=need.encoder_units,
        decoder_units=need.decoder_units,
        graphics=need.graphics,
        min_driver=need.min_driver,
        min_compute_capability=need.min_compute_capability,
        topology=claims.Topology(need.topology),
        cpu_milli=default_cpu_milli if need.cpu_milli is None else need.cpu_milli,
        host_memory_mib=default_ram_mib if need.ram_mib is None else need.ram_mib,
        disk_mib=default_disk_mib if need.disk_mib is None else need.disk_mib,
        node_labels=frozenset(need.node_labels),
        storage=frozenset(need.storage),
        runner=runner,
        heavy_bandwidth=need.heavy_bandwidth,
    )
