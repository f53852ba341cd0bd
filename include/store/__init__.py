"""Rows and domain values: one transaction a unit of work, one repository an aggregate."""
