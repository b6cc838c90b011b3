"""How nodes come in, and what administrators do with them."""

import hashlib
import secrets
import unicodedata
from datetime import timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from nodeagent.protocol.inventory import Hello, Join, Joined, Welcome
from pool.announce import wake_node
from pool.clock import now
from pool.errors import Invalid, NodeRefused
from pool.events import Actor, record
from pool.lifecycle.cards import CardState
from pool.lifecycle.events import EventKind
from pool.lifecycle.nodes import NodeState
from pool.models.cards import Card
from pool.models.nodes import JoinToken, Node
from pool.services.alerts import alert_resolve
from pool.services.moves import locked, move
from pool.services.observed import actor_of, node_died, node_seen
from pool.services.placements import node_wish
from pool.services.slices import slices_retired
from pool.wake import round_wanted

LONGEST_NAME = 253
TOKEN_SECONDS = 86_400


def name_fold(name: str) -> str:
    """The form in which two names are one: compatibility-composed, casefolded."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def node_name(name: str) -> str:
    """The name as it may be used.

    Raises:
        Invalid: empty, over 253 characters, with control characters, spaces or slashes.
    """
    plain = unicodedata.normalize("NFC", name).strip()
    if not plain or len(plain) > LONGEST_NAME:
        raise Invalid(name=_("A node's name has 1 to 253 characters."))
    if any(sign in "/\\" or not sign.isprintable() or sign.isspace() for sign in plain):
        raise Invalid(name=_("A node's name has no spaces, slashes or control characters."))
    return plain


def secret_hash(plain: str) -> str:
    """What is stored of a token or credential: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


@transaction.atomic
def join_token_issue(
    *, node: str, actor: Actor, seconds: int = TOKEN_SECONDS
) -> tuple[JoinToken, str]:
    """A token that lets the node of that name in once; empty name: any. Its text is told once."""
    plain = "gpj_" + secrets.token_urlsafe(32)
    token = JoinToken.objects.create(
        token_hash=secret_hash(plain),
        node_name=node_name(node) if node else "",
        expires_at=now() + timedelta(seconds=seconds),
    )
    record(EventKind.JOIN_TOKEN_ISSUED, token, actor=actor, node_name=token.node_name)
    return token, plain


@transaction.atomic
def node_join(*, join: Join) -> Joined:
    """Let a node in by its token and tell it its credential, once.

    A node that lost the answer may ask again with the same token until its first report. A token
    made out to the name of a node that is known gives that node a new credential.

    Raises:
        NodeRefused: the token is unknown, used, too old, or made out to another name, or the name
            is another node's.
        Invalid: the name cannot be used.
    """
    token = (
        JoinToken.objects.select_for_update(of=("self",))
        .select_related("used_by")
        .filter(token_hash=secret_hash(join.token))
        .first()
    )
    name = node_name(join.hello.name)
    if token is None or token.expires_at < now():
        raise NodeRefused(why=_("the join token is not known or too old"))
    if token.node_name and name_fold(token.node_name) != name_fold(name):
        raise NodeRefused(why=_("the join token is for another node"))
    known = Node.objects.select_for_update().filter(name_folded=name_fold(name)).first()
    _may_join(token, known)
    node = known or Node(name=name, name_folded=name_fold(name))
    plain = "gpn_" + secrets.token_urlsafe(32)
    node.observe = node.observe or join.hello.observe
    node.credential_hash = secret_hash(plain)
    node.credential_issued_at = now()
    node.save()
    JoinToken.objects.filter(pk=token.pk).update(used_at=now(), used_by=node)
    actor = actor_of(node)
    record(EventKind.NODE_JOINED, node, actor=actor, name=node.name, token=token.uid)
    return Joined(node=node.uid, credential=plain)


def _may_join(token: JoinToken, known: Node | None) -> None:
    if token.used_at is not None:
        again = known is not None and token.used_by_id == known.pk
        if not again or known is None or known.last_report_at is not None:
            raise NodeRefused(why=_("the join token was used before"))
        return
    if known is None:
        return
    if known.state == NodeState.RETIRED:
        raise NodeRefused(why=_("a node of that name was retired"))
    if not token.node_name:
        raise NodeRefused(why=_("another node has that name already"))


@transaction.atomic
def node_credential_revoke(*, node: Node, actor: Actor, reason: str = "") -> None:
    """The node's credential opens nothing any more; it needs a new join token. Safe to repeat."""
    (row,) = locked(Node.objects.filter(pk=node.pk))
    if not row.credential_hash:
        return
    Node.objects.filter(pk=row.pk).update(credential_hash="")
    record(EventKind.NODE_CREDENTIAL_REVOKED, row, actor=actor, reason=reason)


@transaction.atomic
def node_cordon(*, node: Node, actor: Actor, reason: str) -> Node:
    """Nothing new starts there; what runs goes on."""
    return _admin_move(node, NodeState.CORDONED, actor, reason)


@transaction.atomic
def node_uncordon(*, node: Node, actor: Actor, reason: str = "") -> Node:
    """Starts are welcome there again; a draining node is cordoned first, then ready."""
    (row,) = locked(Node.objects.filter(pk=node.pk))
    if row.state == NodeState.DRAINING:
        move(row, NodeState.CORDONED, actor=actor, reason=reason)
    return _admin_move(row, NodeState.READY, actor, reason)


@transaction.atomic
def node_drain(*, node: Node, actor: Actor, reason: str) -> Node:
    """Nothing new starts there, and it is cordoned once nothing runs."""
    return _admin_move(node, NodeState.DRAINING, actor, reason)


def node_confirm_dead(*, node: Node, actor: Actor, reason: str) -> Node:
    """A person vouches that a silent node is dead: what it ran is lost, and may start elsewhere.

    Should it return all the same, it is told to stop what the books have ended. Safe to repeat.

    Raises:
        IllegalMove: the node is not silent: it answers, so it cannot be dead.
    """
    with transaction.atomic():
        row = _admin_move(node, NodeState.LOST, actor, reason)
        alert_resolve(key=f"silent:{row.uid}", actor=actor, reason=reason)
    node_died(node=row, actor=actor, reason=reason, gone=False)
    return row


@transaction.atomic
def node_retire(*, node: Node, actor: Actor, reason: str = "") -> Node:
    """A lost node never comes back: its credential opens nothing, its cards are retired.

    Safe to repeat.

    Raises:
        IllegalMove: it is not lost; confirm first that it is dead.
    """
    for card in locked(Card.objects.filter(node=node).exclude(state=CardState.RETIRED)):
        move(card, CardState.RETIRED, actor=actor, reason=reason, told={"node": node.uid})
        for about in ("card", "foreign"):
            alert_resolve(key=f"{about}:{card.uid}", actor=actor, reason=reason)
    slices_retired(node=node, actor=actor, reason=reason)
    Node.objects.filter(pk=node.pk).update(credential_hash="")
    return _admin_move(node, NodeState.RETIRED, actor, reason)


@transaction.atomic
def node_adopt(*, node: Node, actor: Actor, reason: str = "") -> Node:
    """A node that was only measured becomes one that runs work."""
    (row,) = locked(Node.objects.filter(pk=node.pk))
    Node.objects.filter(pk=row.pk).update(observe=False)
    record(EventKind.NODE_CHANGED, row, actor=actor, observe=False, reason=reason)
    return _admin_move(row, NodeState.READY, actor, reason)


def _admin_move(node: Node, then: NodeState, actor: Actor, reason: str) -> Node:
    (row,) = locked(Node.objects.filter(pk=node.pk))
    if row.state == then:
        _said_anew(row, actor, reason)
        return row
    move(row, then, actor=actor, reason=reason)
    node_wish(node_id=row.pk, uid=row.uid)
    round_wanted()
    return row


def _said_anew(row: Node, actor: Actor, reason: str) -> None:
    """It is in that state already: a new reason of a person replaces the old one, and is told."""
    if reason and reason != row.state_reason:
        Node.objects.filter(pk=row.pk).update(state_reason=reason[:200])
        row.state_reason = reason[:200]
        record(EventKind.NODE_CHANGED, row, actor=actor, state=row.state, reason=reason)


def node_hello(*, node: Node, hello: Hello) -> Welcome:
    """First words after each start of an agent; see `observed.node_seen`."""
    welcome = node_seen(node=node, hello=hello, actor=actor_of(node))
    wake_node(node.uid)
    return welcome
