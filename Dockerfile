# The web app for a team: docs/team.md. Everything from the registry is pinned with hashes.
ARG PYTHON=3.13-slim-bookworm

FROM python:${PYTHON} AS build
WORKDIR /build
COPY requirements/server.txt requirements/server.txt
RUN python -m venv /opt/proctor \
 && /opt/proctor/bin/python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes --only-binary :all: -r requirements/server.txt
COPY README.md LICENSE ./
COPY packages packages
RUN /opt/proctor/bin/python -m pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation ./packages/* \
 && /opt/proctor/bin/python -m pip uninstall --yes --quiet setuptools \
 && /opt/proctor/bin/proctor --version

FROM python:${PYTHON}
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/proctor proctor
COPY --from=build /opt/proctor /opt/proctor
COPY --chmod=755 docker/entrypoint.sh /usr/local/bin/proctor-entrypoint
ENV PATH=/opt/proctor/bin:$PATH PYTHONUNBUFFERED=1 HOME=/var/lib/proctor
USER 10001
WORKDIR /var/lib/proctor
VOLUME /var/lib/proctor
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s \
  CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 7860, timeout=8); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["proctor-entrypoint"]
CMD ["proctor", "web", "--host", "0.0.0.0", "--port", "7860"]
