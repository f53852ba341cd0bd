# Tradewind on the official Airflow image. For wheels of torch without CUDA, name their index with
#   --build-arg PIP_EXTRA_INDEX_URL=...
FROM apache/airflow:3.3.2-python3.11

ARG PIP_EXTRA_INDEX_URL=""
ENV PYTHONPATH=/opt/airflow \
    PYTHONDONTWRITEBYTECODE=1 \
    NUMBA_CACHE_DIR=/opt/airflow/state/numba

COPY --chown=airflow:root requirements.txt /opt/airflow/requirements.txt
RUN pip install --no-cache-dir --requirement /opt/airflow/requirements.txt

# Named volumes take their owner from these folders; the image runs as `airflow`, never as root.
RUN mkdir -p /opt/airflow/state /opt/airflow/exchange /opt/airflow/logs

COPY --chown=airflow:root dags /opt/airflow/dags
COPY --chown=airflow:root plugins /opt/airflow/plugins
COPY --chown=airflow:root include /opt/airflow/include
USER airflow
