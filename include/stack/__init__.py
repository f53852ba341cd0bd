"""The processes of this machine: database, simulated exchange and Airflow, started and stopped."""
