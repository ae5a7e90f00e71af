"""The fixtures of these tests."""

from tests.cache.project import project

__all__ = ["project"]
