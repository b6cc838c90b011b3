"""Kinds of things in the catalogues: storage, secrets, environments."""

from enum import StrEnum


class StorageKind(StrEnum):
    """What a storage object is for."""

    HOME = "home"
    PROJECT = "project"
    DATASET = "dataset"
    SCRATCH = "scratch"
    CHECKPOINTS = "checkpoints"


class Backing(StrEnum):
    """What lies behind the path on a node; all but a plain folder must be mounted there."""

    HOST = "host"
    NFS = "nfs"
    LUSTRE = "lustre"
    S3 = "s3"


class Access(StrEnum):
    """Whether work may write there."""

    READ = "ro"
    WRITE = "rw"


class SecretForm(StrEnum):
    """How work gets a secret: in a variable, or as a file that only it can read."""

    ENV = "env"
    FILE = "file"


class EnvironmentKind(StrEnum):
    """An image that a container engine runs, or a folder with programs on the nodes."""

    IMAGE = "image"
    FOLDER = "folder"


class InstructionSet(StrEnum):
    """What the programs inside were built for."""

    CUDA = "cuda"
    ROCM = "rocm"
    CANN = "cann"
    CPU = "cpu"
