"""What is added must balance by itself: no look at all that was posted before, however much."""

from django.db import migrations

FUNCTION = """
CREATE OR REPLACE FUNCTION billing_balanced() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF EXISTS ({sums}) THEN
        RAISE EXCEPTION 'postings of an entry do not sum to zero' USING ERRCODE = 'check_violation';
    END IF;
    IF EXISTS (
        SELECT 1 FROM (SELECT DISTINCT organization_id, month FROM added) a
        JOIN billing_month m ON m.organization_id = a.organization_id AND m.first = a.month
        WHERE m.state = 'closed'
    ) THEN
        RAISE EXCEPTION 'the month is closed' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $body$;
"""
ADDED = "SELECT 1 FROM added GROUP BY entry_id HAVING sum(amount_micro) <> 0"
"""An entry whose every addition sums to zero sums to zero."""

WHOLE = """
    SELECT 1 FROM billing_posting p JOIN (SELECT DISTINCT entry_id FROM added) a USING (entry_id)
    GROUP BY p.entry_id HAVING sum(p.amount_micro) <> 0
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0004_ledger_append_only")]
    operations = [migrations.RunSQL(FUNCTION.format(sums=ADDED), FUNCTION.format(sums=WHOLE))]
