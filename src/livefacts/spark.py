"""livefacts on Spark: `session` starts Spark, `Pipeline` works on a knowledge base.

>>> from livefacts.spark import Pipeline, session
"""

from __future__ import annotations

from livefacts.engine.spark.pipeline import Pipeline
from livefacts.engine.spark.session import session

__all__ = ["Pipeline", "session"]
