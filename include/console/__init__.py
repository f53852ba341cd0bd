"""The desk page: a FastAPI application with its templates and static files, free of Airflow."""
