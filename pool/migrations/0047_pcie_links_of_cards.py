"""The PCIe link of a card, as each of its readings tells it."""

from django.db import migrations

ADD = """
ALTER TABLE pool_sample
    ADD COLUMN pcie_width smallint,
    ADD COLUMN pcie_generation smallint;
"""
DROP = """
ALTER TABLE pool_sample
    DROP COLUMN pcie_width,
    DROP COLUMN pcie_generation;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("pool", "0046_rollout_moves"),
    ]

    operations = [migrations.RunSQL(ADD, DROP)]
