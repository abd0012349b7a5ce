"""The schemas of the document, as classes."""

from .generated.models import *  # noqa: F403
