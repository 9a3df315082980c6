# The server in a container: docker build -t livefacts . && docker run -p 7878:7878 -v kb:/kb livefacts
FROM python:3.11-slim AS build

WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/livefacts \
    && /opt/livefacts/bin/pip install --no-cache-dir '.[serve]'

FROM python:3.11-slim

COPY --from=build /opt/livefacts /opt/livefacts
ENV PATH=/opt/livefacts/bin:$PATH \
    LIVEFACTS_CACHE_DIR=/var/cache/livefacts \
    PYTHONUNBUFFERED=1
RUN useradd --system --uid 7878 --home-dir /kb livefacts \
    && mkdir -p /kb /var/cache/livefacts \
    && livefacts doctor --compile \
    && chown -R livefacts /kb /var/cache/livefacts
USER 7878
WORKDIR /kb
VOLUME /kb
EXPOSE 7878
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7878/ready', timeout=4)"]
# Inside a container loopback would reach nobody: what is published decides who does.
ENTRYPOINT ["livefacts", "serve", "/kb", "--host", "0.0.0.0", "--port", "7878"]
