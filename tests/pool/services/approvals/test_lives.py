"""A model of requests and leases, played against the services: whatever the order of acts, each is
allowed exactly when the model says so, and the books are those of the model."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pool.errors import PoolError
from pool.events import SYSTEM
from pool.lifecycle.roles import QuotaKind
from pool.models import Lease, Quota, Request
from pool.services.decisions import (
    request_approve,
    request_decisions_due,
    request_reject,
    request_return,
    request_undo,
)
from pool.services.extensions import lease_extension_ask, lease_resize_ask
from pool.services.leases import lease_give_back, lease_recall, leases_ended_due, leases_ending_due
from pool.services.requests import request_draft, request_edit, request_send, request_withdraw
from tests import factories as make

ROOM = 6
WHICH = st.integers(min_value=0, max_value=9)


class Lives(RuleBasedStateMachine):
    """`requests` and `leases` are the model: a state by key, with what each asks or holds."""

    world = None

    @initialize()
    def begin(self):
        self.block = transaction.atomic()
        self.block.__enter__()
        self.mine = {"user": self.world.member, "actor": make.by(self.world.member)}
        self.theirs = {"user": self.world.lead, "actor": make.by(self.world.lead)}
        make.quota(self.world.project, self.world.partition, ROOM, kind=QuotaKind.ENTITLEMENT)
        self.requests, self.leases = {}, {}

    def teardown(self):
        if hasattr(self, "block"):
            transaction.set_rollback(True)
            self.block.__exit__(None, None, None)

    def held(self):
        """Cards that the model counts."""
        asked = sum(
            self.beyond(one) for one in self.requests.values() if one["state"] == "submitted"
        )
        return asked + sum(n for state, n in self.leases.values() if state == "active")

    def beyond(self, one):
        lease = self.leases.get(one["lease"], ("", 0))
        if lease[0] != "active":
            return one["taken"]
        return 0 if one["how"] == "extend" else one["taken"]

    def tried(self, allowed, act):
        """Do it, or see it refused, as the model says."""
        try:
            with transaction.atomic():
                made = act()
        except PoolError:
            assert not allowed
            return None
        assert allowed
        return made

    def pick(self, which):
        keys = sorted(self.requests)
        key = keys[which % len(keys)]
        return key, self.requests[key], Request.objects.get(pk=key)

    def lease(self, which):
        keys = sorted(self.leases)
        key = keys[which % len(keys)]
        return key, Lease.objects.get(pk=key)

    @rule(copies=st.integers(min_value=1, max_value=3))
    def draft(self, copies):
        made = request_draft(
            project=self.world.project,
            template_version=self.world.whole,
            copies=copies,
            weights=make.FREE,
            **self.mine,
        )
        self.requests[made.pk] = {
            "state": "draft",
            "copies": copies,
            "taken": 0,
            "lease": 0,
            "how": "",
        }

    @precondition(lambda self: self.requests)
    @rule(which=WHICH)
    def send(self, which):
        _, model, row = self.pick(which)
        if model["lease"]:
            return
        room = self.held() + model["copies"] <= ROOM
        allowed = model["state"] in ("draft", "returned") and room
        if self.tried(allowed, lambda: request_send(request=row, **self.mine)):
            model |= {"state": "submitted", "taken": model["copies"]}

    @precondition(lambda self: self.requests)
    @rule(which=WHICH)
    def approve(self, which):
        _, model, row = self.pick(which)
        before = self.leases.get(model["lease"], ("", 0))
        if model["how"] == "extend" and before[0] != "active":
            return
        allowed = model["state"] == "submitted"
        made = self.tried(allowed, lambda: request_approve(request=row, **self.theirs))
        if made is None:
            return
        model |= {"state": "approved", "taken": 0}
        if model["how"] == "extend":
            return
        if model["how"] == "resize" and before[0] == "active":
            self.leases[model["lease"]] = ("ending", 0)
        self.leases[Lease.objects.get(request=made).pk] = ("active", model["copies"])

    @precondition(lambda self: self.requests)
    @rule(which=WHICH, copies=st.integers(min_value=1, max_value=3))
    def edit(self, which, copies):
        """Other words start the decision again: what waited for its undo is dropped."""
        _, model, row = self.pick(which)
        if model["lease"]:
            return
        sent = model["state"] == "submitted"
        room = not sent or self.held() - model["taken"] + copies <= ROOM
        allowed = model["state"] in ("draft", "submitted", "returned") and room
        if self.tried(allowed, lambda: request_edit(request=row, copies=copies, **self.mine)):
            model |= {"copies": copies, "pending": 0}
            if sent:
                model["taken"] = copies

    @precondition(lambda self: self.requests)
    @rule(which=WHICH, copies=st.integers(min_value=1, max_value=3))
    def approve_with_changes(self, which, copies):
        _, model, row = self.pick(which)
        if model["lease"]:
            return
        room = self.held() - model["taken"] + copies <= ROOM
        yes = {"request": row, "changes": {"copies": copies}, **self.theirs}
        allowed = model["state"] == "submitted" and room
        made = self.tried(allowed, lambda: request_approve(**yes))
        if made is not None:
            model |= {"state": "approved", "copies": copies, "taken": 0, "pending": 0}
            self.leases[Lease.objects.get(request=made).pk] = ("active", copies)

    @precondition(lambda self: self.requests)
    @rule(which=WHICH)
    def approve_in_ten_seconds(self, which):
        """Nothing happens before its time; the right to undo it is the decider's alone."""
        _, model, row = self.pick(which)
        if model["lease"]:
            return
        yes = {"request": row, "delay_s": 10, **self.theirs}
        if self.tried(model["state"] == "submitted", lambda: request_approve(**yes)):
            model["pending"] = model["copies"]

    @precondition(lambda self: self.requests)
    @rule(which=WHICH)
    def undo(self, which):
        _, model, row = self.pick(which)
        allowed = model["state"] == "submitted" and bool(model.get("pending"))
        if self.tried(allowed, lambda: request_undo(request=row, **self.theirs)):
            model["pending"] = 0

    @rule()
    def ten_seconds_pass(self):
        """What was not undone takes effect, once, however often it is swept."""
        Request.objects.filter(pending_until__isnull=False).update(pending_until=timezone.now())
        request_decisions_due(actor=SYSTEM), request_decisions_due(actor=SYSTEM)
        for key, model in self.requests.items():
            if model["state"] == "submitted" and model.get("pending"):
                model |= {"state": "approved", "taken": 0, "pending": 0}
                self.leases[Lease.objects.get(request=key).pk] = ("active", model["copies"])

    @precondition(lambda self: self.requests)
    @rule(which=WHICH)
    def reject(self, which):
        _, model, row = self.pick(which)
        no = {"request": row, "reason": "no", **self.theirs}
        if self.tried(model["state"] == "submitted", lambda: request_reject(**no)):
            model |= {"state": "rejected", "taken": 0}

    @precondition(lambda self: self.requests)
    @rule(which=WHICH)
    def ask_back(self, which):
        _, model, row = self.pick(which)
        why = {"request": row, "text": "why?", **self.theirs}
        if self.tried(model["state"] == "submitted", lambda: request_return(**why)):
            model |= {"state": "returned", "taken": 0}

    @precondition(lambda self: self.requests)
    @rule(which=WHICH)
    def withdraw(self, which):
        _, model, row = self.pick(which)
        allowed = model["state"] not in ("approved", "rejected")
        if self.tried(allowed, lambda: request_withdraw(request=row, **self.mine)):
            model |= {"state": "withdrawn", "taken": 0}

    @precondition(lambda self: self.leases)
    @rule(which=WHICH)
    def extend(self, which):
        key, row = self.lease(which)
        until = row.valid.upper
        more = {"lease": row, "seconds": 3600, "weights": make.FREE, **self.mine}
        made = self.tried(self.open_for(key), lambda: lease_extension_ask(**more))
        if made is not None:
            copies = self.leases[key][1]
            self.asked(made, key, "extend", copies, 0)
            row.refresh_from_db()
            assert row.valid.upper == until

    @precondition(lambda self: self.leases)
    @rule(which=WHICH, copies=st.integers(min_value=1, max_value=4))
    def resize(self, which, copies):
        key, row = self.lease(which)
        beyond = max(0, copies - self.leases[key][1])
        allowed = self.open_for(key) and copies != row.copies and self.held() + beyond <= ROOM
        other = {"lease": row, "copies": copies, "weights": make.FREE, **self.mine}
        made = self.tried(allowed, lambda: lease_resize_ask(**other))
        if made is not None:
            self.asked(made, key, "resize", copies, beyond)

    @precondition(lambda self: self.leases)
    @rule(which=WHICH)
    def give_back(self, which):
        key, row = self.lease(which)
        if self.waits(key):
            return
        lease_give_back(lease=row, actor=make.by(self.world.member))
        if self.leases[key][0] == "active":
            self.leases[key] = ("ending", 0)

    @precondition(lambda self: self.leases)
    @rule(which=WHICH)
    def recall_and_end(self, which):
        key, row = self.lease(which)
        if self.waits(key):
            return
        now = timezone.now()
        Lease.objects.filter(pk=key).update(
            valid=(now - timedelta(hours=1), now + timedelta(hours=1))
        )
        why = {"ends_at": now + timedelta(minutes=1), "reason": "needed", "actor": SYSTEM}
        active = self.leases[key][0] == "active"
        if self.tried(active, lambda: lease_recall(lease=row, **why)):
            Lease.objects.filter(pk=key).update(valid=(now - timedelta(hours=1), now))
            leases_ending_due(actor=SYSTEM)
            self.leases[key] = ("ending", 0)

    @rule()
    def grace_is_over(self):
        Lease.objects.filter(state="ending").update(deadline=timezone.now())
        leases_ended_due(actor=SYSTEM)
        self.leases = {
            key: ("ended", 0) if state == "ending" else (state, n)
            for key, (state, n) in self.leases.items()
        }

    def open_for(self, key):
        """Whether a change of this lease may be asked for."""
        return self.leases[key][0] == "active" and not self.waits(key)

    def waits(self, key):
        return any(
            one["lease"] == key and one["state"] in ("submitted", "returned")
            for one in self.requests.values()
        )

    def asked(self, made, key, how, copies, taken):
        self.requests[made.pk] = {
            "state": "submitted",
            "copies": copies,
            "taken": taken,
            "lease": key,
            "how": how,
        }

    @invariant()
    def the_books_are_those_of_the_model(self):
        if not hasattr(self, "requests"):
            return
        states = dict(Request.objects.values_list("pk", "state"))
        assert states == {key: one["state"] for key, one in self.requests.items()}
        leases = dict(Lease.objects.values_list("pk", "state"))
        assert leases == {key: state for key, (state, _) in self.leases.items()}
        row = Quota.objects.get(kind=QuotaKind.ENTITLEMENT)
        assert row.held == self.held() * 1_000_000 <= row.limit_value


@pytest.mark.django_db
def test_requests_and_leases_live_as_the_model_says():
    lives = type("Lives", (Lives,), {"world": make.World()})
    run_state_machine_as_test(
        lives,
        settings=settings(
            max_examples=15,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
