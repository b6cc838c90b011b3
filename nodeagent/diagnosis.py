"""Why a job ended, read from its last words: only what they plainly say."""

from pathlib import Path

TAIL_BYTES = 64 * 1024

OUT_OF_CARD_MEMORY = (
    b"CUDA out of memory",
    b"HIP out of memory",
    b"NPU out of memory",
    b"torch.OutOfMemoryError",
    b"torch.cuda.OutOfMemoryError",
    b"cudaErrorMemoryAllocation",
    b"CUDA_ERROR_OUT_OF_MEMORY",
    b"ResourceExhaustedError",
)
"""What the common frameworks print when a card has no memory left."""


def out_of_card_memory(folder: Path) -> bool:
    """Do the last lines of an attempt's output say that the card was full?"""
    try:
        last = max((folder / "log").iterdir(), key=lambda path: int(path.name))
        with last.open("rb") as file:
            file.seek(max(last.stat().st_size - TAIL_BYTES, 0))
            tail = file.read()
    except (OSError, ValueError):
        return False
    return any(words in tail for words in OUT_OF_CARD_MEMORY)
