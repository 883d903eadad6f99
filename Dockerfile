# One image for every command: `serve` (default: web and worker in one process), or `web`, `worker`, `migrate`, `backup`, `doctor`, ...
#   docker build -t spillclock .
#   docker run -p 8000:8000 --read-only --tmpfs /tmp --cap-drop ALL -v spillclock:/var/lib/spillclock spillclock
# compose.yaml runs it with PostgreSQL and two workers. Only /var/lib/spillclock and /tmp are written to.

FROM python:3.12-slim AS build
WORKDIR /src
COPY requirements.lock pyproject.toml ./
# The installer itself comes from the lock, with its hashes.
RUN sed -n '/^uv==/,/[^\\]$/p' requirements.lock > uv.lock \
 && python -m venv /uv \
 && /uv/bin/pip install --no-cache-dir --disable-pip-version-check --quiet --require-hashes -r uv.lock
# The lock also holds the developers' tools. runtime.txt names what the program itself needs; versions and hashes stay the lock's.
RUN python -m venv --without-pip /app \
 && /uv/bin/uv pip compile --quiet pyproject.toml --all-extras --constraints requirements.lock --no-header --no-annotate --output-file runtime.txt \
 && /uv/bin/uv pip install --no-cache --python /app/bin/python --compile-bytecode --require-hashes --requirements runtime.txt --constraints requirements.lock
COPY . .
RUN /uv/bin/uv pip install --no-cache --python /app/bin/python --compile-bytecode --no-deps .

FROM python:3.12-slim
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /var/lib/spillclock --shell /usr/sbin/nologin spillclock \
 && install -d -o spillclock -g spillclock -m 0750 /var/lib/spillclock
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    SPILLCLOCK_HOME_DIR=/var/lib/spillclock \
    SPILLCLOCK_BIND=0.0.0.0:8000 \
    SPILLCLOCK_WORKER_BIND=0.0.0.0:8001
# By number, so that an orchestrator can see that it is not root.
USER 10001:10001
WORKDIR /var/lib/spillclock
VOLUME /var/lib/spillclock
EXPOSE 8000 8001
# `serve` and `web` answer on 8000, a `worker` of its own on 8001: whichever runs here has to say that it is well.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import sys, urllib.request\ndef well(port):\n    try:\n        return urllib.request.urlopen(f'http://127.0.0.1:{port}/healthz', timeout=2).status == 200\n    except OSError:\n        return False\nsys.exit(not any(map(well, (8000, 8001))))"]
CMD ["spillclock", "serve"]
