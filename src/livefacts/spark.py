"""livefacts on Spark: `session` starts Spark, `Pipeline` works on a knowledge base, `watch`
follows a query through a stream of update messages.

>>> from livefacts.spark import Pipeline, session, watch
"""

from __future__ import annotations

from livefacts.engine.spark.session import require_extra, session

require_extra()

from livefacts.engine.spark.pipeline import Pipeline  # noqa: E402
from livefacts.service.continuous.on_spark import watch  # noqa: E402

__all__ = ["Pipeline", "session", "watch"]
