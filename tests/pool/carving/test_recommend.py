"""What to offer for a need, and what to refuse with which words."""

from nodeagent.protocol.vocabulary import Isolation, Mode
from pool.carving.recommend import Asker, Offer, Warn, Why, recommend
from pool.carving.sizes import Ask, CardSize
from tests.pool.carving.cards import mig

SIZE = CardSize(nominal_gb=40, memory_mib=40960)
TWENTY = Ask(memory_gb=20, compute_milli=250)


def _offer(mode, isolation, geometry=None):
    return Offer(label="A100-40GB", size=SIZE, mode=mode, isolation=isolation, geometry=geometry)


MIG = _offer(Mode.MIG, Isolation.HARDWARE, mig("a100_40gb"))
MPS = _offer(Mode.MPS, Isolation.PROCESS)
VGPU = _offer(Mode.VGPU, Isolation.SOFTWARE)
WHOLE = _offer(Mode.WHOLE, Isolation.HARDWARE)
SLICED = _offer(Mode.TIMESLICE, Isolation.NONE)


def test_twenty_gb_and_a_quarter_is_a_3g_with_its_waste():
    best = recommend(TWENTY, (MIG, MPS, VGPU, WHOLE), Asker())[0]
    assert (best.mode, best.profile, best.why) == (Mode.MIG, "3g.20gb", Why.FITS_WITH_WASTE)
    assert 15 < best.waste_percent < 25


def test_mps_comes_first_only_inside_a_trust_group():
    best = recommend(TWENTY, (MIG, MPS), Asker(shares_trust=True))[0]
    assert (best.mode, best.why, best.waste_percent) == (Mode.MPS, Why.TRUST_GROUP_ONLY, 0.0)
    refused = recommend(TWENTY, (MIG, MPS), Asker())[-1]
    assert (refused.mode, refused.why, refused.usable) == (Mode.MPS, Why.NOT_TRUSTED, False)


def test_a_vgpu_is_only_for_work_outside():
    assert recommend(TWENTY, (VGPU,), Asker())[0].why == Why.EXTERNAL_ONLY
    assert recommend(TWENTY, (VGPU,), Asker(external=True))[0].usable


def test_only_what_is_offered_is_recommended():
    assert {o.mode for o in recommend(TWENTY, (WHOLE,), Asker())} == {Mode.WHOLE}
    assert recommend(TWENTY, (), Asker()) == ()


def test_a_need_larger_than_the_card_is_refused_everywhere():
    answers = recommend(Ask(memory_gb=60), (MIG, MPS, WHOLE), Asker(shares_trust=True))
    assert {o.why for o in answers} == {Why.TOO_SMALL}


def test_many_small_slices_for_attention_are_warned_of():
    asker = Asker(attention=True, parts=7)
    assert recommend(Ask(memory_gb=5), (MIG,), asker)[0].warnings == (Warn.MANY_SMALL_SLICES,)
    assert recommend(Ask(memory_gb=5), (MIG,), Asker(parts=7))[0].warnings == ()


def test_time_slicing_says_that_compute_is_not_enforced():
    warned = recommend(TWENTY, (SLICED,), Asker(shares_trust=True))[0].warnings
    assert Warn.COMPUTE_NOT_ENFORCED in warned


def test_the_order_of_the_offers_does_not_matter():
    offers = (MIG, MPS, VGPU, WHOLE)
    assert recommend(TWENTY, offers, Asker()) == recommend(TWENTY, offers[::-1], Asker())
