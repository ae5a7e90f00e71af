"""``torch.autograd.anomaly_mode``: the operation of the forward pass named when its backward fails."""

from srcgrad.eager.anomaly import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
