"""A module whose attributes programs read."""

from tests.parallel import inner_settings as inner

FACTOR = 2.0

__all__ = ["FACTOR", "inner"]
