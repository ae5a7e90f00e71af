"""What ``torch.utils.data`` is made of."""
