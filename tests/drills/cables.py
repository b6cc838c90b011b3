"""A network of its own for each node, on a cable that the drills pull: packets really are lost.

A namespace of the kernel for each node and a pair of virtual cards to this machine. It wants root
and `ip`; where the machine cannot, `Cables.laid` says why and drills cut the line at its socket.
"""

import ipaddress
import os
import shutil
import ssl
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

RANGE = ipaddress.ip_network("198.18.0.0/15")
"""Kept by the registries for trials like this one: it is nobody's."""


class CannotLay(Exception):
    """This machine makes no such network; the text says why."""


def ip(*words: str) -> str:
    """One command of iproute2; what it said.

    Raises:
        CannotLay
    """
    program = shutil.which("ip", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if program is None or os.geteuid() != 0:
        raise CannotLay("there is no program `ip`" if program is None else "this is not root")
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotLay(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


@dataclass(frozen=True)
class Cable:
    """One node's: the namespace, the end that stays here, and the addresses of both ends."""

    space: str
    here: str
    near: str
    far: str

    def lay(self) -> None:
        """The namespace with its end of the cable; both ends are up."""
        there = f"{self.here}p"
        ip("netns", "add", self.space)
        ip("link", "add", self.here, "type", "veth", "peer", "name", there)
        ip("link", "set", there, "netns", self.space)
        ip("addr", "add", f"{self.near}/30", "dev", self.here)
        ip("link", "set", self.here, "up")
        ip("-n", self.space, "addr", "add", f"{self.far}/30", "dev", there)
        ip("-n", self.space, "link", "set", there, "up")
        ip("-n", self.space, "link", "set", "lo", "up")

    def take_up(self) -> None:
        """Whatever of it was laid is gone."""
        for words in (("link", "del", self.here), ("netns", "del", self.space)):
            try:
                ip(*words)
            except CannotLay as gone:
                assert "Cannot find" in str(gone) or "No such file" in str(gone), gone


@dataclass
class Cables:
    """The cables by the names of their nodes, and those that are pulled."""

    by_node: dict[str, Cable]
    pulled: set[str] = field(default_factory=set)
    pulls: int = 0

    @classmethod
    def laid(cls, names: tuple[str, ...]) -> "Cables":
        """One for each node.

        Raises:
            CannotLay: nothing is left of what was begun.
        """
        taken = ip("-4", "-o", "addr")
        free = [net for net in RANGE.subnets(new_prefix=30) if f" {net[1]}/" not in taken]
        made = cls({})
        try:
            for number, (name, net) in enumerate(zip(names, free, strict=False)):
                word = f"gp{os.getpid()}n{number}"
                made.by_node[name] = Cable(word, word, str(net[1]), str(net[2]))
                made.by_node[name].lay()
        except CannotLay:
            made.take_up()
            raise
        return made

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where this machine is reached, cable by cable."""
        return tuple(one.near for one in self.by_node.values())

    def inside(self, name: str) -> tuple[str, ...]:
        """What a command line begins with to run on the node's own network."""
        return ("nsenter", f"--net=/run/netns/{self.by_node[name].space}", "--")

    def pull(self, name: str) -> None:
        """From now on no packet passes, and nobody is told."""
        ip("link", "set", self.by_node[name].here, "down")
        self.pulled.add(name)
        self.pulls += 1

    def plug(self) -> None:
        """All of them carry again."""
        for name in sorted(self.pulled):
            ip("link", "set", self.by_node[name].here, "up")
        self.pulled.clear()

    def take_up(self) -> None:
        """Nothing is left of them. Processes that run on one keep their (dead) network."""
        for one in self.by_node.values():
            one.take_up()


def certificate(folder: Path, addresses: tuple[str, ...]) -> tuple[Path, ssl.SSLContext]:
    """A certificate for these addresses that only `--ca FILE` makes anybody believe."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "drill")])
    now = datetime.now(UTC)
    names = [x509.IPAddress(ipaddress.ip_address(one)) for one in addresses]
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "drill.pem", folder / "drill.key"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.touch(mode=0o600)
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return public, context
