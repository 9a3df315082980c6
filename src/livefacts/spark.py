"""livefacts on Spark: `session` starts Spark, `Pipeline` works on a knowledge base, `watch`
follows a query through a stream of update messages.

>>> from livefacts.spark import Pipeline, session, watch
"""

from __future__ import annotations

from livefacts.engine.spark.pipeline import Pipeline
from livefacts.engine.spark.session import session
from livefacts.service.continuous.onspark import watch

__all__ = ["Pipeline", "session", "watch"]
