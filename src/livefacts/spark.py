"""livefacts on Spark: `session` starts Spark, `Pipeline` works on a knowledge base, `watch`
follows a query through a stream of update messages, `register` makes files of RDF known to
sessions that were started elsewhere: `spark.read.format("rdf")`, `StreamMetrics` has the figures
of streams for Prometheus.

>>> from livefacts.spark import Pipeline, register, session, watch
"""

from __future__ import annotations

from livefacts.engine.spark.session import require_extra, session

require_extra()

from livefacts.engine.spark.formats.session_sources import register  # noqa: E402
from livefacts.engine.spark.streaming.batch_figures import StreamFigures, StreamMetrics  # noqa: E402
from livefacts.service.continuous.on_spark import watch  # noqa: E402
from livefacts.service.micro_batches.stream_pipeline import (  # noqa: E402
    StreamPipeline as Pipeline,
)

__all__ = ["Pipeline", "StreamFigures", "StreamMetrics", "register", "session", "watch"]
