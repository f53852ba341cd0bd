"""What Tradewind does: all logic, free of Airflow. The map of the packages stands in docs/structure.md."""
