"""What Tradewind does: all logic, free of Airflow. docs/structure.md maps the packages."""
