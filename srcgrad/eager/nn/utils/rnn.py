"""The name ``torch.nn.utils.rnn``."""

from srcgrad.eager.absent import absent_from
from srcgrad.eager.nn.padded import pad_sequence, unpad_sequence

__getattr__ = absent_from("torch.nn.utils.rnn")
__all__ = ["pad_sequence", "unpad_sequence"]
